"""File accesses and the plan of a whole log, found at once, to compare with the working set."""

from foldline.reinjection.file_access import find_accesses, order
from foldline.reinjection.working_set import plan_step
from foldline.values.groups import pair
from foldline.values.messages import ToolResult


def accesses(messages, settings):
    """Return every access of a file, in the order in which the calls were made."""
    found = []
    for call, result in pair(messages).answers.items():
        calling, answering = messages[call.message], messages[result.message]
        found += find_accesses(calling, answering, (call, result), settings)
    return tuple(sorted(found, key=order))


def newest_plan(messages):
    """Return the plan as a planning tool set it last; None where there is none, or it is empty."""
    failed = set()
    for message in reversed(messages):
        for index in range(len(message.parts) - 1, -1, -1):
            part = message.parts[index]
            if isinstance(part, ToolResult) and part.is_error and part.call_id:
                failed.add(part.call_id)
                continue
            step = plan_step(message, index)
            if step is not None and step.call not in failed:
                return step.tasks
    return None
