"""Generated tables as tools write them: JSON in many layouts, CSV, HTML, processes, SQL."""

# ruff: noqa: E501  # tools write long lines

from __future__ import annotations

import json
import random
from collections.abc import Sequence

from made_words import STREETS, WORDS, Output, Question, digits, person, stamp


def order(rng: random.Random, nested: bool) -> dict[str, object]:
    order: dict[str, object] = {
        "order_id": f"#W{rng.randrange(10**6, 10**7)}",
        "customer": person(rng),
        "status": rng.choice(("pending", "delivered", "delivered", "cancelled", "processed")),
        "total": round(rng.uniform(5, 900), 2),
        "paid": rng.random() < 0.7,
        "note": None,
    }
    if nested:
        order["address"] = {
            "street": f"{rng.randrange(1, 999)} {rng.choice(STREETS)}",
            "zip": f"{rng.randrange(10**4, 10**5)}",
        }
        order["items"] = [
            {"sku": str(rng.randrange(10**9, 10**10)), "name": rng.choice(WORDS), "price": round(rng.uniform(1, 300), 2), "options": {"size": rng.choice("SML"), "color": rng.choice(("red", "blue", "black"))}}
            for _ in range(rng.randrange(1, 5))
        ]  # fmt: skip
    return order


def json_flat(rng: random.Random) -> Output:
    rows = [order(rng, nested=False) for _ in range(rng.randrange(150, 500))]
    return _of_orders(rng, rows, json.dumps(rows), "flat JSON", "orders")


def json_pretty(rng: random.Random) -> Output:
    rows = [order(rng, nested=True) for _ in range(rng.randrange(60, 160))]
    text = json.dumps({"data": {"orders": rows}, "page": 1, "has_more": False}, indent=2)
    return _of_orders(rng, rows, text, "nested JSON, indented", "data.orders")


def json_nested(rng: random.Random) -> Output:
    rows = [order(rng, nested=True) for _ in range(rng.randrange(100, 300))]
    return _of_orders(rng, rows, json.dumps(rows, separators=(",", ":")), "nested JSON", "orders")


def json_lines(rng: random.Random) -> Output:
    rows = [order(rng, nested=False) for _ in range(rng.randrange(150, 400))]
    return _of_orders(rng, rows, "\n".join(map(json.dumps, rows)), "JSON Lines", "orders")


def _of_orders(
    rng: random.Random, rows: Sequence[dict[str, object]], text: str, kind: str, what: str
) -> Output:
    row, other = rng.sample(rows[5:-5], 2)
    other["customer"] = rare = f"Quentin Abernathy{rng.randrange(10, 99)}"
    text = text if rare in text else _again(rows, text)
    needles = (str(row["order_id"]), str(row["customer"]), str(row["total"]))
    questions = [
        Question("row by id", f"What is the status of order {row['order_id']}?", needles),
        Question("row by value", f"Which {what} did {rare} place, and are they paid?", (rare, str(other["order_id"]), str(other["total"]))),
        Question("last", "What is the last order in the list?", (str(rows[-1]["order_id"]), str(rows[-1]["total"]))),
    ]  # fmt: skip
    if "address" in row:
        address = row["address"]
        assert isinstance(address, dict)
        questions.append(
            Question(
                "row by value",
                f"Who lives at {address['street']}, {address['zip']}?",
                (address["zip"], *needles[:2]),
            )
        )
    return Output(kind, "curl -s https://shop.example/api/orders", text, tuple(questions))


def _again(rows: Sequence[dict[str, object]], text: str) -> str:
    """Write changed rows in their original layout."""
    if text.startswith("{\n"):
        return json.dumps({"data": {"orders": rows}, "page": 1, "has_more": False}, indent=2)
    if text.startswith("{"):
        return "\n".join(map(json.dumps, rows))
    return json.dumps(rows, separators=None if ": " in text[:60] else (",", ":"))


def csv_table(rng: random.Random) -> Output:
    rows = [
        (
            1000 + n,
            person(rng),
            rng.choice(("Berlin", "Oslo", "Lima", "Pune")),
            rng.choice(("gold", "silver", "basic")),
            f"{rng.uniform(0, 9000):.2f}",
            f"2025-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}",
        )
        for n in range(rng.randrange(250, 700))
    ]
    mark = rng.choice(",;\t")
    lines = [mark.join(("account", "holder", "city", "tier", "balance", "opened"))]
    lines += [mark.join(map(str, row)) for row in rows]
    row, at = rng.choice(rows[10:-10]), rng.randrange(20, len(rows) - 20)
    lines[at] = mark.join(
        (str(rows[at - 1][0]), "Wolfgang Zyskowski", "Tromsø", "platinum", "-417.33", "1999-12-31")
    )
    return Output("CSV" if mark != "\t" else "TSV", "cat accounts.csv", "\n".join(lines), (
        Question("row by id", f"What is the balance of account {row[0]}?" if lines[at].split(mark)[0] != str(row[0]) else "Where is Tromsø?", (mark.join(map(str, row)),) if lines[at].split(mark)[0] != str(row[0]) else ("Tromsø",)),
        Question("row by value", "Which account does Wolfgang Zyskowski hold?", (lines[at],)),
        Question("rare", "Which customer lives in Tromsø and has a platinum tier?", (lines[at],)),
        Question("last", "What is the last row?", (lines[-1],)),
    ))  # fmt: skip


def html_page(rng: random.Random) -> Output:
    rows = [
        (
            f"SKU-{rng.randrange(10**5, 10**6)}",
            f"{rng.choice(WORDS)} {rng.choice(WORDS)}",
            rng.randrange(500),
            f"{rng.uniform(1, 900):.2f}",
        )
        for _ in range(rng.randrange(120, 300))
    ]
    body = "\n".join(
        f'<tr class="row odd" data-index="{n}"><td class="sku">{r[0]}</td><td>{r[1]}</td><td>{r[2]}</td><td class="price">&euro;{r[3]}</td></tr>'
        for n, r in enumerate(rows)
    )
    phone = f"+47 22 {rng.randrange(10**5, 10**6)}"
    text = f'<!DOCTYPE html>\n<html><head><title>Stock</title><style>.row {{ color: red; }}</style><script>var a = "<b>no</b>";</script></head>\n<body><div id="top"><h1>Warehouse stock</h1><p>Updated every night. Questions: <a href="tel:{phone}">{phone}</a></p></div>\n<table><tr><th>SKU</th><th>Name</th><th>Stock</th><th>Price</th></tr>\n{body}\n</table>\n<footer>Generated by StockKeeper 9</footer></body></html>'
    row = rng.choice(rows[10:-10])
    return Output("HTML", "curl -s https://stock.example/", text, (
        Question("row by id", f"What does {row[0]} cost?", (row[0], row[3])),
        Question("row by value", "Which phone number is given for questions?", (phone,)),
        Question("last", "What is the last product of the table?", (rows[-1][0],)),
        Question("first", "What is the title of the page at the top?", ("Warehouse stock",)),
    ))  # fmt: skip


def processes(rng: random.Random) -> Output:
    lines = ["USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND"]
    pids = rng.sample(range(100, 99_999), rng.randrange(200, 400))
    lines.extend(
        f"{rng.choice(('root', 'www', 'app')):8} {pid:>7}  {rng.uniform(0, 3):.1f}  {rng.uniform(0, 3):.1f} {rng.randrange(10**6):>7} {rng.randrange(10**5):>6} ?        S    Mar{rng.randrange(10, 29)}   0:{rng.randrange(10, 60)} /usr/bin/{rng.choice(WORDS)} --{rng.choice(WORDS)}={rng.randrange(99)}"
        for pid in sorted(pids)
    )
    at = rng.randrange(20, len(lines) - 20)
    pid = lines[at].split()[1]
    other = rng.randrange(at + 1, len(lines) - 5)
    lines[other] = lines[other].rpartition("/usr/bin/")[0] + "/var/.x/xmrig --donate-level 1"
    return Output("ps", "ps aux", "\n".join(lines), (
        Question("row by id", f"What is process {pid} running?", (lines[at],)),
        Question("row by value", "Is xmrig running, and with which PID?", (lines[other],)),
        Question("last", "What is the last process listed?", (lines[-1],)),
    ))  # fmt: skip


def sql_rows(rng: random.Random) -> Output:
    rows = [
        (
            n,
            f"{rng.choice(WORDS)}-{digits(rng, 6)}",
            rng.choice(("queued", "done", "done", "done")),
            stamp(rng.randrange(10**6)),
        )
        for n in range(5000, 5000 + rng.randrange(200, 500))
    ]
    lines = [
        "  id  |      name       | state  |     created_at      ",
        "------+-----------------+--------+---------------------",
    ]
    lines += [f" {r[0]:>4} | {r[1]:15} | {r[2]:6} | {r[3]}" for r in rows]
    lines += [f"({len(rows)} rows)"]
    at = rng.randrange(20, len(rows) - 20)
    lines[at + 2] = f" {rows[at][0]:>4} | {rows[at][1]:15} | wedged | {rows[at][3]}"
    return Output("SQL", "psql -c 'select * from jobs'", "\n".join(lines), (
        Question("row by id", f"When was job {rows[at + 5][1]} created?", (rows[at + 5][1], rows[at + 5][3])),
        Question("row by value", "Which job is wedged?", (rows[at][1],)),
        Question("count", "How many rows are there?", (lines[-1],)),
        Question("last", "What is the last job?", (rows[-1][1],)),
    ))  # fmt: skip
