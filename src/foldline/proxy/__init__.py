"""
The proxy between an unchanged agent and its provider.

A client sends its whole history with every request. The proxy finds the session that the history
continues, sends that session's view, and forwards everything else unchanged. If the proxy fails
in any way, it forwards the original request.
"""
