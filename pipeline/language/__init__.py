"""From phases to annotated trips: intents, prompts, models, the ledger of their responses."""
