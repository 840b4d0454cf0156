from tau_bench.types import Action, Task

TASKS = [
    Task(annotator="0", user_id="ann_1", instruction="You are Ann. You want to cancel your order #B1.", actions=[
        Action(name="get_order", kwargs={"order_id": "#B1"}),
        Action(name="cancel_order", kwargs={"order_id": "#B1"}),
    ], outputs=[]),
    Task(annotator="0", user_id="bo_2", instruction="You are Bo. You want to know the price of your order #B2 and of #B1.", actions=[
        Action(name="get_order", kwargs={"order_id": "#B2"}),
        Action(name="get_order", kwargs={"order_id": "#B1"}),
    ], outputs=["900", "1250"]),
    Task(annotator="0", user_id="bo_2", instruction="You are Bo. You want to cancel your order #B2.", actions=[
        Action(name="cancel_order", kwargs={"order_id": "#B2"}),
        Action(name="transfer_to_human_agents", kwargs={"summary": "delivered already"}),
    ], outputs=[]),
]
