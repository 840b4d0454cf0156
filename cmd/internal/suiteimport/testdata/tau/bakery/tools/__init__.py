from .cancel_order import CancelOrder
from .get_order import GetOrder
from .transfer_to_human_agents import TransferToHumanAgents

ALL_TOOLS = [CancelOrder, GetOrder, TransferToHumanAgents]
