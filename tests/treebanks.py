def write_treebank(path, sentences, lemmas=False):
    """Write words, tags and trees as CoNLL-U; the other columns are `_`, except LEMMA if `lemmas` is set,
    which then repeats the word."""
    blocks = []
    for sentence in sentences:
        rows = zip(sentence.words, sentence.tags, sentence.heads, sentence.relations, strict=True)
        lines = (
            f"{i}\t{word}\t{word if lemmas else '_'}\t{tag}\t_\t_\t{head + 1}\t{relation}\t_\t_\n"
            for i, (word, tag, head, relation) in enumerate(rows, start=1)
        )
        blocks.append("".join(lines) + "\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(blocks), newline="\n")
