import asyncio
import threading

import pytest

import foldline.tools
from foldline.errors import InputError, RecallError
from foldline.formats.tool_json import tool_schemas
from foldline.tools import ErrorCode, Permissions, Tool, Toolbox, ToolOutput

PARAMETERS = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "Where it is."}},
    "required": ["path"],
    "additionalProperties": False,
}


def tool(action=lambda given: ToolOutput(given["path"]), name="read", **rest):
    return Tool(name, "Reads a file.", PARAMETERS, action, **rest)


@pytest.mark.requirement("H11")
def test_one_definition_is_written_for_every_provider():
    made = tool()
    function = {"name": "read", "description": "Reads a file.", "parameters": PARAMETERS}
    assert made.schema("openai-chat") == {"type": "function", "function": function}
    assert made.schema("langchain") == made.schema("openai-chat")
    assert made.schema("openai-responses") == {"type": "function", **function, "strict": False}
    assert made.schema("anthropic") == {
        "name": "read",
        "description": "Reads a file.",
        "input_schema": PARAMETERS,
    }
    assert made.schema("gemini")["parametersJsonSchema"] == PARAMETERS
    for dialect in ("openai-chat", "openai-responses", "anthropic", "langchain"):
        (read,) = tool_schemas([made.schema(dialect)])
        assert (read.name, read.parameters) == ("read", PARAMETERS)


def test_the_schema_is_a_copy_and_the_tool_is_its_own():
    own = {"type": "object", "properties": {"path": {"type": "string"}}}
    made = Tool("read", "", own, lambda _: ToolOutput(""))
    own["properties"]["path"]["type"] = "integer"
    made.schema("anthropic")["input_schema"]["properties"].clear()
    assert made.schema("anthropic")["input_schema"]["properties"] == {"path": {"type": "string"}}


def test_an_unknown_dialect_is_an_error_that_suggests_a_similar_one():
    with pytest.raises(InputError, match="Did you mean 'anthropic'"):
        tool().schema("antropic")


@pytest.mark.parametrize("name", ["", "two words", "x" * 65, "café", None, "a\n"])
def test_a_name_that_a_provider_would_refuse_is_an_error(name):
    with pytest.raises(InputError, match="name"):
        tool(name=name)


def test_arguments_are_an_object():
    with pytest.raises(InputError, match="object"):
        Tool("read", "", {"type": "string"}, lambda _: ToolOutput(""))


@pytest.mark.requirement("H11")
@pytest.mark.parametrize("arguments", ['{"path": "a.py"}', {"path": "a.py"}])
def test_it_runs_with_text_and_with_objects(arguments):
    assert tool().run(arguments) == ToolOutput("a.py")
    assert asyncio.run(tool().arun(arguments)) == ToolOutput("a.py")


@pytest.mark.requirement("H11")
@pytest.mark.parametrize(
    "arguments", ["{", "[]", "{}", {"path": 5}, {"path": "a", "x": 1}, None, 7]
)
def test_wrong_arguments_are_reported_and_nothing_is_run(arguments):
    ran = []
    made = tool(lambda given: ran.append(given) or ToolOutput(""))
    for output in (made.run(arguments), asyncio.run(made.arun(arguments))):
        assert output.code is ErrorCode.INVALID_ARGUMENTS
        assert "was not run" in output.text
        assert output.data["problems"]
    assert ran == []


@pytest.mark.requirement("H11")
def test_exceptions_of_a_tool_become_an_error_output():
    def failing(error):
        def action(_):
            raise error

        async def async_action(_):
            raise error

        return tool(action, async_action=async_action)

    for error, code, words in (
        (ValueError("bad"), ErrorCode.EXECUTION, "read failed. ValueError: bad"),
        (TimeoutError("slow"), ErrorCode.TIMEOUT, "TimeoutError: slow"),
        (RecallError("gone", hint="Look there."), ErrorCode.EXECUTION, "gone. Look there."),
        (ValueError("x" * 9_000), ErrorCode.EXECUTION, "ValueError"),
        (RecursionError(), ErrorCode.EXECUTION, "RecursionError"),
    ):
        made = failing(error)
        for output in (made.run({"path": "a"}), asyncio.run(made.arun({"path": "a"}))):
            assert output.code is code
            assert words in output.text
            assert len(output.text) < 600


def test_an_interrupt_is_raised():
    def interrupted(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tool(interrupted).run({"path": "a"})


def test_an_invalid_return_value_is_reported():
    output = tool(lambda _: "text").run({"path": "a"})
    assert (output.code, output.text) == (
        ErrorCode.INTERNAL,
        "The tool returned str instead of a ToolOutput.",
    )


def test_a_tool_that_blocks_does_not_block_a_program_that_awaits():
    async def main():
        running, go_on = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def action(_):
            loop.call_soon_threadsafe(running.set)
            return ToolOutput(str(go_on.wait(5)))

        task = asyncio.create_task(tool(action).arun({"path": "a"}))
        await asyncio.wait_for(running.wait(), 5)
        go_on.set()
        return await task

    assert asyncio.run(main()).text == "True"


def test_a_cancellation_is_raised():
    async def main():
        started = asyncio.Event()

        async def action(_):
            started.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(tool(async_action=action).arun({"path": "a"}))
        await asyncio.wait_for(started.wait(), 5)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())


# --- toolbox -------------------------------------------------------------------------------


@pytest.mark.requirement("H11")
def test_an_unknown_tool_is_an_output_that_suggests_a_similar_one():
    box = Toolbox([tool(), tool(name="write")])
    for output in (box.run("raed", {}), asyncio.run(box.arun("raed", {}))):
        assert output.code is ErrorCode.NOT_FOUND
        assert "Did you mean 'read'? The tools are: read, write." in output.text
    assert Toolbox().run("x" * 900).text.endswith("The tools are: none.")


def test_a_toolbox_runs_lists_and_narrows_its_tools():
    box = Toolbox([tool(), tool(name="write")])
    assert box.run("read", '{"path": "a"}') == ToolOutput("a")
    assert asyncio.run(box.arun("read", {"path": "a"})) == ToolOutput("a")
    assert [schema["name"] for schema in box.schemas("anthropic")] == ["read", "write"]
    less = box.only("write")
    assert "read" in box
    assert "read" not in less
    assert (len(box), len(less)) == (2, 1)
    assert less.run("read", {"path": "a"}).code is ErrorCode.NOT_FOUND
    with pytest.raises(InputError, match="no tool 'read'"):
        less.only("read")


def test_two_tools_of_one_name_are_an_error():
    with pytest.raises(InputError, match="'read'"):
        Toolbox([tool(), tool()])


def test_every_name_of_the_package_is_found_and_another_one_is_not():
    assert sorted(foldline.tools.__all__) == dir(foldline.tools)
    for name in dir(foldline.tools):
        found = getattr(foldline.tools, name)
        assert isinstance(found, Permissions) or found.__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'compakt'"):
        _ = foldline.tools.compakt


@pytest.mark.requirement("H12")
def test_a_tool_that_raises_system_exit_has_failed():
    def leave(_):
        raise SystemExit(3)

    async def leave_soon(_):
        raise SystemExit(3)

    plain, awaited = tool(leave), tool(leave, async_action=leave_soon)
    for output in (plain.run({"path": "a"}), asyncio.run(awaited.arun({"path": "a"}))):
        assert output.code is ErrorCode.EXECUTION
        assert "SystemExit" in output.text
