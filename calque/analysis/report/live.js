"use strict";

// Fill-mask in the page: RoBERTa's forward pass.
const floats = (text) => new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
function gelu(x) { // erf by Abramowitz and Stegun's 7.1.26
  const t = 1 / (1 + 0.3275911 * Math.abs(x) * Math.SQRT1_2);
  const rest = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const erf = 1 - rest * Math.exp(-x * x / 2);
  return x / 2 * (1 + (x < 0 ? -erf : erf));
}
const dot = (a, b, from = 0, size = a.length) => {
  let sum = 0;
  for (let i = 0; i < size; i++) sum += a[i] * b[from + i];
  return sum;
};
const softmax = (scores) => {
  const top = Math.max(...scores), shares = scores.map((score) => Math.exp(score - top));
  const sum = shares.reduce((a, b) => a + b);
  return shares.map((share) => share / sum);
};
const plus = (...rows) => rows[0].map((_, i) => rows.reduce((sum, row) => sum + row[i], 0));
function logits({ shape, weights }, ids, type, place) {
  const { hidden_size: hidden, intermediate_size: ffn, vocab_size: words } = shape;
  const heads = shape.num_attention_heads, width = hidden / heads;
  let at = 0;
  const take = (size) => weights.subarray(at, at += size);
  const dense = (out, size = hidden) => {
    const matrix = take(out * size), bias = take(out);
    return (row) => bias.map((each, i) => each + dot(row, matrix, i * size));
  };
  const norm = () => {
    const gain = take(hidden), bias = take(hidden);
    return (row) => {
      const mean = row.reduce((a, b) => a + b) / hidden;
      const scale = 1 / Math.sqrt(row.reduce((sum, each) => sum + (each - mean) ** 2, 0) / hidden + shape.layer_norm_eps);
      return row.map((each, i) => (each - mean) * scale * gain[i] + bias[i]);
    };
  };
  const row = (matrix, i) => matrix.subarray(i * hidden, (i + 1) * hidden);
  const table = take(words * hidden), kinds = take(shape.type_vocab_size * hidden), first = norm();
  const positions = take(shape.max_position_embeddings * hidden);
  let states = ids.map((id, i) => first(plus(row(table, id), row(positions, shape.first + i), row(kinds, type))));
  for (let layer = 0; layer < shape.num_hidden_layers; layer++) {
    const [queries, keys, values] = [0, 1, 2].map(() => { const of = dense(hidden); return states.map(of); });
    const mix = dense(hidden), normed = norm(), inner = dense(ffn), outer = dense(hidden, ffn), last = norm();
    const mixed = queries.map((query) => {
      const out = new Float32Array(hidden);
      for (let start = 0; start < hidden; start += width) {
        const part = query.subarray(start, start + width);
        const shares = softmax(keys.map((key) => dot(part, key, start) / Math.sqrt(width)));
        for (let i = start; i < start + width; i++)
          out[i] = values.reduce((total, value, k) => total + shares[k] * value[i], 0);
      }
      return out;
    });
    states = states.map((state, i) => normed(plus(mix(mixed[i]), state)));
    states = states.map((state) => last(plus(outer(inner(state).map(gelu)), state)));
  }
  const bias = take(words), head = dense(hidden), state = norm()(head(states[place]).map(gelu));
  return bias.map((each, i) => each + dot(state, table, i * hidden));
}

for (const box of document.querySelectorAll(".live")) {
  const { names, glosses, types, numbers, texts, mask, around, models } = JSON.parse(box.querySelector("script").textContent);
  const [select, input, table, note] = ["select", "input", "table", "output"].map((tag) => box.querySelector(tag));
  const known = {}, all = [...new Set(Object.values(types).flat())];
  for (const model of models) model.weights = floats(model.weights);
  for (const language in types) known[language] = new Map([...types[language].map((id) => [names[id], id]), mask]);
  box.logits = (number, language, text) => {
    const words = text.trim().split(/\s+/), missing = words.filter((word) => !known[language].has(word));
    if (missing.length) throw `${missing.join(", ")}: only words that are single types of ${language} can be used`;
    const ids = [around[0], ...words.map((word) => known[language].get(word)), around[1]], model = models[number];
    const room = model.shape.max_position_embeddings - model.shape.first;
    if (words.filter((word) => word === mask[0]).length !== 1 || ids.length > room)
      throw `expected one ${mask[0]} and at most ${room - 2} words`;
    return logits(model, ids, numbers[language], ids.indexOf(mask[1]));
  };
  const cosines = ({ shape, weights }, own) => {
    const row = (id) => weights.subarray(id * shape.hidden_size, (id + 1) * shape.hidden_size);
    return names.map((_, id) => dot(row(id), row(own)) / Math.sqrt(dot(row(id), row(id)) * dot(row(own), row(own))));
  };
  const best = (ids, scores, written) => {
    const order = ids.filter((id) => !isNaN(scores[id])).sort((a, b) => scores[b] - scores[a]).slice(0, 5);
    return order.map((id) => `${names[id]}${id in glosses ? ` (${glosses[id]})` : ""} ${written(scores[id])}`);
  };
  const guesses = (model, number) => {
    const word = known[select.value].get(input.value.trim());
    if (word !== undefined && word !== mask[1])
      return best(all.filter((id) => id !== word), cosines(model, word), (cosine) => cosine.toFixed(2));
    const shares = softmax(box.logits(number, select.value, input.value));
    return best([...shares.keys()], shares, (share) => `${(100 * share).toFixed(1)} %`);
  };
  const addRow = (tag, words) => {
    const row = table.insertRow();
    for (const each of words) row.appendChild(document.createElement(tag)).textContent = each;
  };
  const update = () => {
    note.textContent = "";
    table.replaceChildren();
    try {
      const columns = models.map(guesses);
      addRow("th", models.map((model) => model.title));
      columns[0].forEach((_, i) => addRow("td", columns.map((column) => column[i])));
    } catch (reason) { note.textContent = reason; }
  };
  const begin = () => { input.value = texts[select.value] ?? mask[0]; update(); };
  select.onchange = begin;
  input.oninput = update;
  begin();
}
