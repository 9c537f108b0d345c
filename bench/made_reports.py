"""Generated logs, and reports of tests and builds."""

# ruff: noqa: E501  # tools write long lines

from __future__ import annotations

import random

from made_words import ODD, ODD_ZH, WORDS, Output, Question, digits, person, stamp


def app_log(rng: random.Random) -> Output:
    second, lines = rng.randrange(10**4), list[str]()
    for _ in range(rng.randrange(500, 1200)):
        second += rng.randrange(1, 9)
        what = rng.choice((
            f"GET /api/{rng.choice(WORDS)}/{rng.randrange(10**5)} 200 {rng.randrange(1, 400)}ms",
            f"request {digits(rng, 8)} done in {rng.randrange(1, 900)} ms",
            f"cache {rng.choice(('hit', 'miss'))} for key user:{rng.randrange(10**6)}",
            f"worker-{rng.randrange(8)} picked job {digits(rng, 12)}",
        ))  # fmt: skip
        lines.append(f"{stamp(second)} INFO  [{rng.choice(WORDS)}] {what}")
    places = sorted(rng.sample(range(20, len(lines) - 20), 4))
    job = f"job-{digits(rng, 10)}"
    odd = rng.choice(ODD)
    lines[places[0]] = (
        f"{stamp(second)} ERROR [ledger] could not book {job}: balance {rng.randrange(999)} too low"
    )
    lines[places[1]] = f"{stamp(second)} INFO  [{rng.choice(WORDS)}] {odd}"
    lines[places[2]] = (
        f"{stamp(second)} ERROR [mailer] SMTP 554 from mx{rng.randrange(9)}.example.org"
    )
    session = f"sess_{digits(rng, 16)}"
    lines[places[3]] = f"{stamp(second)} INFO  [auth] login of {person(rng)} with {session}"
    return Output("log", "tail -n 2000 /var/log/app.log", "\n".join(lines), (
        Question("first error", "What was the first error in the log?", (lines[places[0]],)),
        Question("last", "What is the last line of the log?", (lines[-1],)),
        Question("rare", "Is there anything unusual in this log?", (odd,)),
        Question("row by id", f"Who logged in with {session}?", (lines[places[3]],)),
        Question("row by value", "Why did the mailer fail to send?", (lines[places[2]],)),
    ))  # fmt: skip


def package_log(rng: random.Random) -> Output:
    lines, names = list[str](), list[str]()
    second = rng.randrange(10**4)
    for number in range(rng.randrange(150, 350)):
        name = f"lib{rng.choice(WORDS)}{number}-{rng.choice(('dev', 'common', 'bin', 'data'))}"
        version = (
            f"{rng.randrange(9)}.{rng.randrange(20)}.{rng.randrange(9)}-{rng.randrange(1, 4)}"
        )
        names.append(name)
        for state in ("install", "status half-installed", "status unpacked", "status installed"):
            second += 1
            lines.append(f"{stamp(second)} {state} {name}:amd64 {version}")
    place = rng.randrange(40, len(lines) - 40)
    odd = rng.choice(ODD)
    lines.insert(place, f"{stamp(second)} note {odd}")
    name = rng.choice(names[10:-10])
    line = next(line for line in lines if f"status installed {name}" in line)
    return Output("package log", "cat /var/log/dpkg.log", "\n".join(lines), (
        Question("last", "Which package was installed last?", (lines[-1],)),
        Question("row by id", f"Which version of {name} was installed?", (line.split()[-1], name)),
        Question("rare", "Which entry does not look like the others?", (odd,)),
        Question("first", "Which package was installed first?", (names[0],)),
    ))  # fmt: skip


def chinese_log(rng: random.Random) -> Output:
    lines, second = list[str](), rng.randrange(10**4)
    for _ in range(rng.randrange(400, 900)):
        second += rng.randrange(1, 9)
        what = rng.choice((
            f"用户{rng.randrange(10**5)}登录成功,来源IP 10.0.{rng.randrange(256)}.{rng.randrange(256)}",
            f"订单{rng.randrange(10**8)}支付完成,金额{rng.randrange(10**4)}元",
            f"缓存刷新完成,耗时{rng.randrange(900)}毫秒",
            f"心跳正常,节点{rng.randrange(20)}在线",
        ))  # fmt: skip
        lines.append(f"{stamp(second)} [信息] {what}")
    places = sorted(rng.sample(range(20, len(lines) - 20), 3))
    order, odd = rng.randrange(10**9, 10**10), rng.choice(ODD_ZH)
    lines[places[0]] = (
        f"{stamp(second)} [错误] 订单{order}退款失败:渠道返回代码{rng.randrange(4000, 5000)}"
    )
    lines[places[1]] = f"{stamp(second)} [信息] {odd}"
    lines[places[2]] = f"{stamp(second)} [错误] 数据库连接超时,重试{rng.randrange(3, 9)}次"
    return Output("Chinese log", "tail -n 1000 服务.log", "\n".join(lines), (
        Question("last", "日志的最后一行是什么?", (lines[-1],)),
        Question("first error", "第一个错误是什么?", (lines[places[0]],)),
        Question("row by id", f"订单{order}为什么没有退款?", (lines[places[0]],)),
        Question("row by value", "哪一行提到数据库连接超时?", (lines[places[2]],)),
        Question("rare", "日志里有没有不寻常的内容?", (odd,)),
    ))  # fmt: skip


def pytest_run(rng: random.Random) -> Output:
    names = [
        f"tests/test_{rng.choice(WORDS)}_{number // 12}.py::test_{rng.choice(WORDS)}_{rng.choice(WORDS)}_{number}"
        for number in range(rng.randrange(250, 700))
    ]
    failing = sorted(rng.sample(range(5, len(names) - 5), 2))
    skipped = rng.choice([n for n in range(5, len(names) - 5) if n not in failing])
    lines = [
        "=" * 29 + " test session starts " + "=" * 29,
        "platform linux -- Python 3.11.7, pytest-8.3.2, pluggy-1.5.0",
        "rootdir: /srv/app",
        f"collected {len(names)} items",
        "",
    ]
    for number, name in enumerate(names):
        state = (
            "FAILED"
            if number in failing
            else "SKIPPED (needs a display)"
            if number == skipped
            else "PASSED"
        )
        lines.append(f"{name} {state} [{100 * number // len(names):3}%]")
    lines += ["", "=" * 35 + " FAILURES " + "=" * 35]
    assertions = []
    for number in failing:
        short = names[number].rpartition("::")[2]
        assertions.append(f"assert {rng.randrange(100, 999)} == {rng.randrange(1000, 9999)}")
        lines += [
            f"{'_' * 30} {short} {'_' * 30}",
            "",
            f"    def {short}():",
            f"        result = compute({number})",
            f">       {assertions[-1].replace(str(number), 'n')}",
            f"E       {assertions[-1]}",
            "",
            f"{names[number].partition('::')[0]}:{rng.randrange(10, 300)}: AssertionError",
        ]
    lines.append("=" * 27 + " short test summary info " + "=" * 27)
    lines += [
        f"FAILED {names[number]} - {why}" for number, why in zip(failing, assertions, strict=True)
    ]
    lines.append(
        f"===== 2 failed, {len(names) - 3} passed, 1 skipped in {rng.uniform(2, 90):.2f}s ====="
    )
    first, second = failing
    return Output("pytest", "pytest -v", "\n".join(lines), (
        Question("first error", "Which test failed first, and why?", (names[first], assertions[0])),
        Question("count", "How many tests failed?", (lines[-1],)),
        Question("row by id", f"Did {names[skipped]} run?", (f"{names[skipped]} SKIPPED",)),
        Question("row by value", f"Why does {names[second].rpartition('::')[2]} fail?", (assertions[1],)),
        Question("last", "Do the tests pass?", (lines[-1], "FAILED")),
    ))  # fmt: skip


def jest_run(rng: random.Random) -> Output:
    files = [
        f"src/{rng.choice(WORDS)}/{rng.choice(WORDS)}{n}.test.ts"
        for n in range(rng.randrange(60, 140))
    ]
    bad = rng.randrange(5, len(files) - 5)
    lines = ["> app@2.4.1 test", "> jest --ci --verbose", ""]
    title, got = f"rounds {rng.choice(WORDS)} totals", rng.randrange(1000, 9999)
    for number, file in enumerate(files):
        lines.append(f"{'FAIL' if number == bad else 'PASS'} {file} ({rng.uniform(0.2, 9):.3f} s)")
        lines += [f"  {rng.choice(WORDS)}"] + [
            f"    ✓ {rng.choice(WORDS)} {rng.choice(WORDS)} case {c} ({rng.randrange(1, 90)} ms)"
            for c in range(rng.randrange(3, 9))
        ]
        if number == bad:
            lines += [
                f"    ✕ {title} ({rng.randrange(9)} ms)",
                "",
                f"  ● {rng.choice(WORDS)} › {title}",
                "",
                "    expect(received).toBe(expected) // Object.is equality",
                "",
                "    Expected: 1200",
                f"    Received: {got}",
                "",
            ]
    lines += [
        "",
        f"Test Suites: 1 failed, {len(files) - 1} passed, {len(files)} total",
        f"Tests:       1 failed, {len(files) * 5} passed, {len(files) * 5 + 1} total",
        "Snapshots:   0 total",
        f"Time:        {rng.uniform(5, 80):.3f} s",
    ]
    return Output("jest", "npm test", "\n".join(lines), (
        Question("first error", "What is the first failure?", (title, f"Received: {got}")),
        Question("count", "How many test suites failed?", (lines[-4],)),
        Question("last", "What does the summary at the end say?", (lines[-4], lines[-3])),
        Question("row by id", f"Does {files[bad]} pass?", (f"FAIL {files[bad]}",)),
    ))  # fmt: skip


def cargo_test(rng: random.Random) -> Output:
    names = [
        f"{rng.choice(WORDS)}::tests::{rng.choice(WORDS)}_{rng.choice(WORDS)}_{n}"
        for n in range(rng.randrange(250, 700))
    ]
    bad = rng.randrange(20, len(names) - 20)
    ignored = bad + 7 if bad + 7 < len(names) else bad - 7
    lines = [
        "   Compiling shop v0.3.1 (/srv/shop)",
        "    Finished `test` profile [unoptimized + debuginfo] target(s) in 8.41s",
        "     Running unittests src/lib.rs (target/debug/deps/shop-4be1)",
        "",
        f"running {len(names)} tests",
    ]
    lines += [
        f"test {n} ... {'FAILED' if i == bad else 'ignored' if i == ignored else 'ok'}"
        for i, n in enumerate(names)
    ]
    left = rng.randrange(10**4, 10**5)
    lines += [
        "",
        "failures:",
        "",
        f"---- {names[bad]} stdout ----",
        f"thread '{names[bad]}' panicked at src/{rng.choice(WORDS)}.rs:{rng.randrange(9, 400)}:9:",
        "assertion `left == right` failed",
        f"  left: {left}",
        "  right: 7",
        "note: run with `RUST_BACKTRACE=1`",
        "",
        "failures:",
        f"    {names[bad]}",
        "",
        f"test result: FAILED. {len(names) - 2} passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.02s",
    ]
    return Output("cargo test", "cargo test", "\n".join(lines), (
        Question("first error", "Which test panicked, and with which value?", (names[bad], f"left: {left}")),
        Question("count", "How many tests failed?", (lines[-1],)),
        Question("row by id", f"What happened to {names[ignored]}?", (f"{names[ignored]} ... ignored",)),
        Question("last", "What is the last line?", (lines[-1],)),
    ))  # fmt: skip


def build_log(rng: random.Random) -> Output:
    lines = [
        f"   Compiling {rng.choice(WORDS)}-{rng.choice(WORDS)} v{rng.randrange(3)}.{rng.randrange(30)}.{rng.randrange(9)}"
        for _ in range(rng.randrange(150, 300))
    ]
    for _ in range(rng.randrange(15, 40)):
        lines += [
            f"warning: unused variable: `{rng.choice(WORDS)}`",
            f"  --> src/{rng.choice(WORDS)}.rs:{rng.randrange(900)}:{rng.randrange(60)}",
            "   |",
            f"{rng.randrange(99)} |     let {rng.choice(WORDS)} = {rng.choice(WORDS)}();",
            "   |         ^^^^^^ help: prefix it with an underscore",
            "",
        ]
    place = f"src/{rng.choice(WORDS)}_{rng.choice(WORDS)}.rs:{rng.randrange(1000, 2000)}:17"
    block = [
        "error[E0308]: mismatched types",
        f"  --> {place}",
        "    |",
        "    |         let n: u32 = total;",
        "    |                      ^^^^^ expected `u32`, found `u64`",
        "",
    ]
    at = rng.randrange(180, len(lines) - 10)
    at -= next((k for k in range(8) if lines[at - k].startswith("warning")), 0)
    lines[at:at] = block
    lines += ["error: could not compile `shop` (lib) due to 1 previous error; 22 warnings emitted"]
    return Output("cargo build", "cargo build 2>&1", "\n".join(lines), (
        Question("first error", "Where is the first error of the build?", ("error[E0308]: mismatched types", place)),
        Question("last", "Did the build succeed?", (lines[-1],)),
        Question("row by value", "Which line has mismatched types?", (place,)),
    ))  # fmt: skip
