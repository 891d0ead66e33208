# An agent of AgentScope, with a function as its tuner takes it: nothing in this file knows of Trinity.
from typing import Any

from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg, TextBlock
from agentscope.model import ChatModelBase
from agentscope.tool import Toolkit, ToolResponse


async def answer(task: dict[str, Any], model: ChatModelBase) -> float:
    def found(tool: str, item: str) -> ToolResponse:
        return ToolResponse(content=[TextBlock(type="text", text=task["shop"][tool].get(item, "?"))])

    def price(item: str) -> ToolResponse:
        """The price of an item in the shop.

        Args:
            item (str): The item.
        """
        return found("price", item)

    def stock(item: str) -> ToolResponse:
        """How much of an item is in stock.

        Args:
            item (str): The item.
        """
        return found("stock", item)

    toolkit = Toolkit()
    toolkit.register_tool_function(price)
    toolkit.register_tool_function(stock)
    clerk = ReActAgent("clerk", "", model, OpenAIChatFormatter(), toolkit=toolkit, max_iters=3)
    clerk.set_console_output_enabled(False)
    reply = await clerk(Msg("user", task["question"], "user"))
    return 1.0 if reply.get_text_content() == task["truth"] else 0.0
