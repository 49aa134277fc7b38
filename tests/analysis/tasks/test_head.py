import pytest
import torch
import transformers

from calque.analysis.tasks.task import TextHead


@pytest.mark.parametrize("shortest", [9, 3])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("kind", ["Roberta", "XLMRoberta", "Bert"])
def test_text_head_equals_transformers(kind, layers, shortest):
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=50, hidden_size=16, num_hidden_layers=layers, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=20, pad_token_id=1, initializer_range=0.3, num_labels=3, type_vocab_size=2,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, classifier_dropout=0.0,
    )  # fmt: skip
    torch.manual_seed(layers)
    model = TextHead().kind.from_config(config, attn_implementation="sdpa")
    real = torch.arange(9) < torch.tensor([9, shortest, 5 if shortest < 9 else 9])[:, None]
    ids = torch.randint(5, 50, (3, 9)).where(real, 1)
    types = torch.zeros_like(ids)

    def gradients(logits):
        model.zero_grad()
        torch.nn.functional.cross_entropy(logits, torch.tensor([0, 2, 1])).backward()
        return [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()]

    ours = TextHead().output(model, ids, types, real)
    theirs = model(input_ids=ids, attention_mask=real.long(), token_type_ids=types).logits
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    for a, b in zip(gradients(ours), gradients(theirs), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)
