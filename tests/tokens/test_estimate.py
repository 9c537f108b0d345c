from __future__ import annotations

import base64
import json
import random
import sysconfig
import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import grows_linearly, repeated

from foldline.tokens.estimate import (
    CHARACTER_CLASSES,
    FAMILIES,
    FEATURES,
    PAIR_CLASSES,
    estimate,
    features,
    weights,
    wide_counts,
)
from foldline.tokens.splintr import SplintrCounter

CHAT = ("o200k", "cl100k", "llama", "deepseek", "qwen", "kimi", "glm", "mistral")
"""The families whose vocabularies are fast enough to judge every sample with."""

TRANSCRIPTS = Path(__file__).resolve().parents[3] / "shared" / "data" / "transcripts"
STDLIB = Path(sysconfig.get_paths()["stdlib"])

PROSE = """The estimator reads every text once, whatever it holds. When the reviewer asked why the
build had failed on Tuesday, nobody could say; the log had been rotated, and with it went the only
trace of the timeout. We agreed to keep the last three runs, to name the machine in each line, and
to stop a job that has been silent for ten minutes. Most of it was done before lunch.\n"""
CHINESE = """上下文压缩的目标是在不丢失重要信息的前提下，减少模型需要处理的内容。
系统会先清理旧的工具输出，然后根据需要生成摘要。如果用户提到了文件路径或者错误信息，
这些内容必须原样保留。测试结果表明，新的方法在处理长对话时更加稳定，而且不会影响质量。\n"""
JAPANESE = """このツールは長い会話を短くまとめるためのものです。最初に古い出力を削除し、
必要に応じて要約を作成します。ファイル名やエラーメッセージなどの情報は、そのまま残されます。
設定を変更したい場合は、設定ファイルを編集してからサーバーを再起動してください。\n"""
KOREAN = """이 도구는 긴 대화를 짧게 정리하기 위해 만들어졌습니다. 먼저 오래된 출력을
삭제하고 필요하면 요약을 생성합니다. 파일 경로와 오류 메시지 같은 정보는 그대로 유지됩니다.
설정을 변경하려면 설정 파일을 수정한 다음 서버를 다시 시작하십시오.\n"""
TRADITIONAL = """這個專案的目的，是讓長時間工作的助理記得它做過的事情。每當對話變得太長，
系統就會把舊的工具輸出收起來，並且留下一個代號；需要的時候，可以用這個代號把原文找回來。
開發人員應該先確認設定檔，再檢查資料庫的連線，最後重新啟動伺服器。\n"""
TERSE = """山中有客，晨起觀雲。雲出於谷，聚而為雨，散而為煙。客曰：雲無心乎？
樵者笑而不答，負薪下山。日暮風起，溪水有聲，燈火三兩，犬吠於村。\n"""
NEWS = """本报讯 记者昨天从市政府了解到，今年全市将新建公园二十座，改造老旧小区八十个。
有关部门负责人表示，工程将在十月底以前完成，市民可以通过网站和电话提出意见。\n"""
MIXED = """# 读取配置文件，如果不存在就使用默认值
def load_config(path: Path) -> dict[str, str]:
    if not path.exists():
        return {"language": "中文", "timeout": "30"}  # 单位：秒
    return json.loads(path.read_text(encoding="utf-8"))\n"""
RUSSIAN = """Этот инструмент сокращает длинные разговоры, сохраняя важные сведения.
Сначала удаляются старые результаты, затем создаётся краткое изложение.\n"""
HINDI = "यह उपकरण लंबी बातचीत को छोटा करता है और महत्वपूर्ण जानकारी को सुरक्षित रखता है।\n"
LOG = "".join(
    f"2025-03-{day:02} 14:{day:02}:07,{day}41 INFO worker-{day % 4} job {day * 7919} finished in"
    f" {day * 1.37:.2f}s (retries=0, queue=default)\n"
    for day in range(1, 29)
)
SHELL = "".join(
    f"-rw-r--r-- 1 root root {size * 977:>8} Jan {size % 28 + 1:>2} 09:1{size % 10} {name}\n"
    for size, name in enumerate(sorted(path.name for path in STDLIB.glob("[a-h]*.py")), 1)
)


def samples() -> dict[str, str]:
    rng = random.Random(11)  # noqa: S311  # makes samples, not secrets
    raw = rng.randbytes(3_000)
    rows = [
        {"id": str(uuid.UUID(bytes=rng.randbytes(16))), "path": f"src/app/view_{n}.py", "line": n}
        for n in range(60)
    ]
    return {
        "prose": PROSE * 4,
        "python": (STDLIB / "textwrap.py").read_text(encoding="utf-8"),
        "json pretty": json.dumps(rows, indent=2),
        "json compact": json.dumps(rows, separators=(",", ":")),
        "log": LOG,
        "shell": SHELL,
        "hex": raw.hex(),
        "base64": base64.b64encode(raw).decode(),
        "chinese": CHINESE * 4,
        "chinese traditional": TRADITIONAL * 4,
        "chinese terse": TERSE * 4,
        "chinese news": NEWS * 4,
        "code with chinese": MIXED * 4,
        "russian": RUSSIAN * 5,
        "japanese": JAPANESE * 4,
        "korean": KOREAN * 4,
    }


@pytest.mark.parametrize("family", CHAT)
@pytest.mark.parametrize("kind", samples())
@pytest.mark.requirement("K6", "J2")
def test_is_within_a_fifth_of_the_real_count(kind: str, family: str) -> None:
    text = samples()[kind]
    truth = SplintrCounter(family).count(text)
    assert estimate(text, family) == pytest.approx(truth, rel=0.2)


@pytest.mark.parametrize("family", CHAT)
def test_a_context_of_many_kinds_is_within_six_percent(family: str) -> None:
    texts = samples().values()
    truth = sum(SplintrCounter(family).count(text) for text in texts)
    assert sum(estimate(text, family) for text in texts) == pytest.approx(truth, rel=0.06)


@pytest.mark.parametrize("family", CHAT)
@pytest.mark.parametrize(
    "text",
    [
        HINDI * 5,
        "Done ✅ all tests pass 🎉\n- 🚀 deploy\n- 🔧 mend the build\n" * 20,
        "0123456789 " * 200,
        "The model printed <|endoftext|> and <|im_start|>user before it stopped. " * 20,
        "\x1b[32m✓\x1b[0m 12 passed, \x1b[31m1 failed\x1b[0m in 3.21s\r\n" * 40,
        "| name | size |\n|------|------|\n| main.py | 12 kB |\n" * 30,
    ],
    ids=["hindi", "emoji", "digits", "special tokens", "terminal", "table"],
)
def test_is_not_far_off_on_uncommon_text(text: str, family: str) -> None:
    truth = SplintrCounter(family).count(text)
    assert truth / 1.6 <= estimate(text, family) <= truth * 1.6


@pytest.mark.parametrize("family", FAMILIES)
def test_the_empty_text_has_no_tokens_and_any_other_has_some(family: str) -> None:
    assert estimate("", family) == 0
    for text in ("a", " ", "\n", "\0", "好", "\ud800", "🙂"):
        assert estimate(text, family) >= 1


def test_an_unknown_family_counts_as_o200k() -> None:
    assert estimate(PROSE, "no such family") == estimate(PROSE, "o200k")


def test_blanks_have_a_plausible_cost() -> None:
    assert 60 <= estimate(" " * 8_000) <= 100


@given(st.text(st.characters(), max_size=300), st.sampled_from([*FAMILIES, "?"]))
@pytest.mark.requirement("H6")
def test_any_text_gets_a_number(text: str, family: str) -> None:
    assert 0 <= estimate(text, family) <= 4 * len(text) + 1


@pytest.mark.parametrize(
    "text", ["\ud800\udfff\udc00" * 9, "\0" * 99, "<|endoftext|>", "\x7f\x80"]
)
def test_hostile_text_gets_a_number(text: str) -> None:
    assert estimate(text) >= 1


@pytest.mark.parametrize("kind", samples())
def test_more_text_takes_more_tokens(kind: str) -> None:
    text = samples()[kind]
    counts = [estimate(text[: len(text) * tenth // 10]) for tenth in range(11)]
    assert counts == sorted(counts)


@pytest.mark.parametrize("kind", samples())
def test_parts_add_up_to_the_whole(kind: str) -> None:
    text = samples()[kind]
    half = len(text) // 2
    whole = estimate(text)
    assert abs(estimate(text[:half]) + estimate(text[half:]) - whole) <= 4


def test_a_long_text_counts_as_its_repetition() -> None:
    once, often = estimate(PROSE * 10), estimate(PROSE * 1_000)
    assert often == pytest.approx(once * 100, rel=0.01)


def test_features_count_what_their_names_describe() -> None:
    found = dict(zip(FEATURES, features("getHTTPName(x_1)  = 12345;\n\n"), strict=False))
    assert found["byte"] == 28
    assert found["word"] == 2
    assert found["capital after a letter"] == 5
    assert found["capital after a capital"] == 4
    assert found["digit group"] == 2
    assert found["digits beyond the 3rd"] == 2
    assert found["indentation"] == 1
    assert found["run of marks"] == 5
    assert found["mark before a newline"] == 1
    assert found["run of newlines"] == 1


def test_counts_where_other_scripts_meet_ascii() -> None:
    found = dict(zip(FEATURES, features("é я 漢字\nかな, 한\n"), strict=True))
    assert found["run of wide characters"] == 5
    assert found["blank before wide"] == 3
    assert found["wide before a newline"] == 2
    assert found["newline before wide"] == 1
    assert found["byte"] == 5 + 6


def test_every_family_weighs_every_feature() -> None:
    assert {len(weights(family)) for family in FAMILIES} == {len(FEATURES)}


def test_time_grows_with_length_alone() -> None:
    for piece in ("a", " \n", "漢"):
        assert grows_linearly(estimate, repeated(piece), 100_000, 800_000)


@pytest.mark.corpus
def test_recorded_sessions_are_within_the_promised_error() -> None:
    if not TRANSCRIPTS.is_dir():
        pytest.skip(f"the recorded sessions are missing: {TRANSCRIPTS}")
    truth = SplintrCounter("o200k")
    pairs = []
    for path in sorted(TRANSCRIPTS.glob("*/*.json*")):
        if path.suffix != ".gz" and path.stat().st_size > 2_000:
            text = path.read_text(encoding="utf-8", errors="replace")
            for start in range(0, min(len(text), 80_000), 8_000):
                piece = text[start : start + 8_000]
                pairs.append((estimate(piece), truth.count(piece)))
    errors = sorted(abs(guess - real) / real for guess, real in pairs if real > 50)
    assert len(errors) > 50
    assert errors[int(0.95 * len(errors))] <= 0.20
    assert sum(g for g, _ in pairs) == pytest.approx(sum(t for _, t in pairs), rel=0.06)


def characters(text: str) -> list[int]:
    return wide_counts(text)[:CHARACTER_CLASSES]


def pairs(text: str) -> list[int]:
    return wide_counts(text)[CHARACTER_CLASSES:]


@given(st.text(st.characters(), max_size=200))
def test_every_unit_beyond_ascii_has_a_class(text: str) -> None:
    low = sum(0xDC00 <= ord(char) <= 0xDFFF for char in text)
    high = sum(0xD800 <= ord(char) <= 0xDBFF for char in text)
    wide = sum(ord(char) >= 0x80 for char in text)
    if not low and not high:
        assert sum(characters(text)) == wide
    assert len(wide_counts(text)) == CHARACTER_CLASSES + PAIR_CLASSES


@pytest.mark.parametrize("text", ["", "plain text, 42\n", "\0\x7f"])
def test_ascii_has_none(text: str) -> None:
    assert not any(wide_counts(text))


@pytest.mark.parametrize("word", ["文件", "可以", "ます", "니다", " п"])
def test_common_pairs_are_known(word: str) -> None:
    assert sum(pairs(word)) >= 1


def test_a_rare_pair_is_not() -> None:
    assert not any(pairs("龘靐"))


def test_a_common_and_a_rare_character_are_of_different_classes() -> None:
    assert characters("的") != characters("龘")


def test_pairs_are_found_at_every_position() -> None:
    assert sum(pairs("文件")) == 1
    assert sum(pairs("x文件")) >= 1
    assert sum(pairs("好文件")) >= 1
    assert sum(pairs("文件" * 10)) >= 10


def test_ascii_between_two_characters_keeps_them_apart() -> None:
    assert sum(pairs("文 - 件")) == sum(pairs("文")) + sum(pairs(" 件"))


def test_repeating_a_line_repeats_its_counts() -> None:
    once = wide_counts("\n上下文压缩 and テスト\n")
    assert wide_counts("\n上下文压缩 and テスト\n" * 7) == [7 * count for count in once]
