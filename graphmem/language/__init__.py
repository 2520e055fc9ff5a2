"""Language models: the protocol, its adapters, the prompts and the gates."""
