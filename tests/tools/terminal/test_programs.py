"""The arguments of programs: reading passes, external access does not."""

import shutil

import pytest

from foldline.tools.terminal.language import parse_line
from foldline.tools.terminal.programs.options import option_spec, read_arguments
from foldline.tools.terminal.programs.table import PROGRAM_NAMES, TABLE, check_command
from foldline.tools.terminal.refusal import NeedsApproval, Refused

pytestmark = pytest.mark.requirement("T7")


def checked(line, place):
    (pipeline,) = parse_line(line)
    name, *words = (word.text for word in pipeline.commands[0].words)
    return check_command(name, words, place)


READS = """
ls -lahS --color=auto src
tree -L 2 -I '.git|node_modules' --dirsfirst
find . -name '*.py' -not -path './.git/*' -type f -printf '%p %s\\n'
find . \\( -name '*.csv' -o -name '*.md' \\) -newer README.md -print0
find src -name '*.py' -exec wc -l {} +
find src -name '*.py' -exec grep -l TODO {} \\;
head -3 README.md
tail -n +2 data.csv
head -n -1 README.md
sort -t, -k2,2nr data.csv
uniq -c -
cut -d' ' -f1,3- README.md
diff -u README.md data.csv
stat -c '%s %n' README.md
file --mime-type README.md
du -sh src
less -N README.md
grep -rn --include=*.py 'TODO' .
grep -e TODO -e FIXME -A2 README.md
rg -n 'class \\w+' -g '*.py'
awk '{print $2}' README.md
awk -F, '$2 > 10 || $1 == "c" {n++} END {print n, (n > 1)}' data.csv
awk '/a|b/ {print}' data.csv
awk -v n=3 'NR==n {print $1 / 2}' data.csv
awk '{ x = "a > b | c"; print x }' data.csv
sed -n '3,7p' README.md
sed -E 's/([0-9]+)ms$/<\\1>/g;/^#/d' README.md
sed 's#/#|#g' README.md
sed -n '/def main/,/return/{p;q}' src/app.py
sed ':a;N;$!ba;s/\\n/ /g' README.md
sed 's/[^/]*$//' README.md
jq -r '.cache.ttl' data.csv
xargs -0 grep -n 'def '
xargs -I{} head -n 1 {}
git log --oneline -3
git log -n 2 --pretty=format:'%h %an %s' -- README.md
git diff HEAD~1 HEAD --stat
git show HEAD:README.md
git status --short
git branch --list 'f*'
git blame -L 1,3 README.md
git -C src log -1
git grep -n TODO
git stash list
git reflog
git reflog -5
git reflog --all
git reflog show -3 HEAD
ls -l link
ls -la linked src
ls -ld linked
test -L link
[ -e README.md -o -d src ]
[ ! -G README.md -a a != b ]
strings ./@list
git config --get user.name
echo -e 'a\\tb'
printf '%s\\n' a b
date +%F
test -f README.md
df -h
which grep
/usr/bin/ls -l
""".strip().splitlines()


@pytest.mark.parametrize("line", READS)
def test_read_only_commands_pass(line, place):
    name = line.split()[0]
    if name in {"rg", "jq", "tree", "file"} and shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    assert checked(line, place).program in {*PROGRAM_NAMES, name, "cat", "stat", "printf"}


BEYOND = (
    """
rm -rf src|write
touch x|write
tee x|write
python3 -c 1|execute
bash -c ls|execute
env|execute
./src/app.py|execute
sudo ls|execute
ls /etc|outside
cat ../outside/secret.txt|outside
cat link|outside
cat linked/secret.txt|outside
cat src/../link|outside
ls link|outside
ls -lF link|outside
ls -l --color=auto link|outside
ls -lC linked|outside
ls -l linked/|outside
ls -l linked/secret.txt|outside
test -G /etc/passwd|outside
test -N link|outside
test -O ../outside/secret.txt|outside
[ -e README.md -o -e /etc/passwd ]|outside
[ a -o -s link ]|outside
[ ! '(' -f /etc/passwd ')' ]|outside
[ -L link -ef README.md ]|outside
[ -e -x ]|outside
find . -delete|write
find . -fprint x|write
find . -exec rm {} ;|execute
find . -exec sed -i s/a/b/ {} ;|execute
find . -execdir cat {} ;|execute
find -L .|execute
find -files0-from x|execute
find linked/|outside
awk 'BEGIN{system("id")}'|execute
awk 'BEGIN{system\\("id")}'|execute
awk '{print > "f"}'|execute
awk '{print $1 >> "f"}'|execute
awk '{print a,
 b > "f"}'|execute
awk '{print | "sh"}'|execute
awk '{"id" | getline x}'|execute
awk '{while ((getline l < "/etc/passwd") > 0) print l}'|execute
awk '{print ENVIRON["X"]}'|execute
awk 'BEGIN{ARGV[1]="/etc/passwd"}'|execute
awk '{print length / 1 | "sh" / 2}'|execute
awk '{ print (1) / "sh" ; print "x" | "sh" } # /'|execute
awk '{f = "system"; @f("id") }'|execute
awk -f src/app.py|write
sed -i s/a/b/ README.md|write
sed -ni p README.md|write
sed s/a/b/ README.md -i|write
sed --in-place s/a/b/ README.md|write
sed 'w f' README.md|write
sed 's/a/b/w f' README.md|write
sed 's/a/b/e' README.md|execute
sed '1e id' README.md|execute
sed -n '/x/{r /etc/passwd
}' README.md|outside
sed -e p -e 'w f' README.md|write
sed -f src/app.py README.md|write
sort -o f README.md|write
sort -rof README.md|write
sort --outp=f README.md|write
sort --compress-program=sh README.md|write
grep -f link README.md|write
grep -R x .|write
rg --pre sh x|write
tree -o f|write
tree -R -H .|write
file -C -m x|write
wc --files0-from=link|write
date -s now|write
date -f link|write
xargs sh -c id|execute
xargs rm|execute
xargs find|execute
xargs git log|execute
xargs -a link cat|write
git push --force-with-lease|
git commit -m x|write
git branch new|write
git tag new|write
git branch -D main|write
git config user.name x|write
git log --output=f|write
git log --ext-diff|write
git diff --no-index a b|write
git grep -Osh x|write
git -c core.pager=sh log|execute
git --git-dir=/x log|execute
git log --format=%G?|execute
git log -- ../outside|outside
git -C ../outside log|outside
git remote add x y|write
git reflog expire --all|write
git reflog --expire=now --all|write
git stash|write
jq -f x .|outside
jq 'import "x" as y; .' data.csv|outside
""".strip()
    .replace("\n ", "\0 ")
    .replace("\n}", "\0}")
    .split("\n")
)


@pytest.mark.parametrize("row", BEYOND)
def test_commands_with_external_access_need_approval_or_are_refused(row, place, project):
    (project / "-x").symlink_to("/etc/passwd")
    line, _, risk = row.replace("\0", "\n").rpartition("|")
    with pytest.raises(Refused) as refused:
        checked(line.replace(" ;", " \\;") if line.endswith(" ;") else line, place)
    assert getattr(refused.value, "risk", "") == risk


@pytest.mark.parametrize(
    "line",
    [
        "strings @README.md", "strings -a -- @/etc/passwd",
        "uniq README.md out", "uniq - out", "xxd README.md out", "curl http://x", "ssh x",
        "git fetch", "git archive HEAD", "head -n x README.md", "find . -name", "find . -exec cat",
        "find . -exec {} +", "find . -exec +", "find . -exec", "grep", "sed", "awk", "[ -f x",
        "xargs -I cat cat README.md", "printf -v x y",
    ],
)  # fmt: skip
def test_invalid_and_network_commands_are_refused_without_asking(line, place):
    with pytest.raises(Refused) as refused:
        checked(line, place)
    assert not isinstance(refused.value, NeedsApproval)


def test_a_checked_command_is_written_in_one_form(place):
    assert checked("sort data.csv -nr -k 2", place).arguments == (
        "-n", "-r", "-k", "2", "--", "data.csv",
    )  # fmt: skip
    assert checked("head -2 data.csv", place).arguments == ("-n", "2", "--", "data.csv")
    assert checked("xargs wc -l", place).arguments == ("--", "/usr/bin/wc", "-l", "--")
    assert checked("sed p README.md", place).arguments[0] == "--sandbox"
    assert "core.fsmonitor=false" in checked("git status", place).arguments


def test_commands_that_need_a_sandbox_are_marked(place):
    for line in ("xargs cat", "git log", "find . -exec cat {} +"):
        assert checked(line, place).opaque
        assert checked(line, place).forks
    assert checked("awk '$1 > 2' data.csv", place).opaque
    assert not checked("cat README.md", place).opaque
    assert not checked("awk '{print $1}' data.csv", place).opaque


def test_a_word_after_the_options_of_reflog_is_never_a_sub_command(place):
    arguments = checked("git reflog -5 --all expire", place).arguments
    assert arguments[arguments.index("reflog") + 1] == "show"


def test_a_link_to_the_outside_is_listed_and_not_followed(terminal):
    seen = terminal.run("ls -l link linked")
    assert seen.status == "ok"
    assert "link -> " in seen.text
    assert "linked -> " in seen.text
    assert "OUTSIDE" not in seen.text


def test_options_are_read_exactly(place):
    spec = option_spec("-ab -n=count --color=word? --lines=count -NUM=n")
    given = read_arguments(
        "x", spec, ["-ab", "-n5", "f", "--color", "--lines", "7", "--", "-z"], place
    )
    assert given.options == (
        ("-a", None), ("-b", None), ("-n", "5"), ("--color", None), ("--lines", "7"),
    )  # fmt: skip
    assert given.operands == ("f", "-z")
    for wrong in (["--lin=5"], ["-c"], ["-abz"], ["--colour"]):
        with pytest.raises(NeedsApproval):
            read_arguments("x", spec, wrong, place)
    for wrong in (["-n"], ["-nx"], ["--lines"]):
        with pytest.raises(Refused):
            read_arguments("x", spec, wrong, place)


def test_every_row_of_the_table_can_be_read():
    for row in TABLE.values():
        assert option_spec(row.options) is not None


@pytest.mark.parametrize(
    "line",
    [
        "sed 'wleft' README.md",
        "sed -n '/x/!{p;wleft\n}' README.md",
        "sed 's/a/b/;1rlink' README.md",
        "sed 's;a;touch left; e' README.md",
        "awk '{ print $1, (a) (b) >\n \"left\" }' README.md",
        'awk \'{ print 1 / 2 "/" ; print 3 |\n "tee left" }\' README.md',
    ],
)
def test_an_obfuscated_script_has_no_effect(line, terminal, project):
    """It may need approval or be refused by sed or the kernel, but has no effect."""
    ran = terminal.run(line.replace("\\n", "\n"))
    assert ran.status in {"needs_approval", "failed", "refused"}
    assert "OUTSIDE" not in ran.text
    assert not (project / "left").exists()


def test_sed_and_awk_scripts_never_print_sensitive_files(terminal, project):
    (project / ".env").write_text("TOKEN=hidden-7\n")
    for line in (
        "sed 'r.env' README.md",
        "sed '1R.env' README.md",
        "awk '{ while ((getline x < \".env\") > 0) print x }' README.md",
        "awk 'BEGIN { ARGV[1] = \".env\" } { print }' README.md",
    ):
        assert "hidden-7" not in terminal.run(line).text
