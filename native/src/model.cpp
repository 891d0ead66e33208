#include "model.h"

#include <algorithm>
#include <stdexcept>

namespace trinity {

Model::Model(const Config& config)
    : layout_(std::make_shared<const Layout>(config)), weights_(Weights::allocate(layout_)) {
  count_memory();
}

std::shared_ptr<const Rope> Model::rope(int64_t positions) {
  std::lock_guard<std::mutex> guard(mutex_);
  if (!rope_ || rope_->positions() < positions) {
    // Room for what comes next: a table per length would be computed again and again.
    int64_t size = 1024;
    while (size < positions) size *= 2;
    rope_ = std::make_shared<const Rope>(layout_->config, static_cast<int>(size));
  }
  return rope_;
}

Buffer& Model::slot_buffer(Slot slot) {
  make_gradients();
  return slot == Slot::gradient ? grad_ : slot == Slot::first_moment ? m_ : v_;
}

// Gradients and moments are taken when first needed: a model that is only scored pays for weights alone.
void Model::make_gradients() {
  grad_.grow(layout_->live_size);
  m_.grow(layout_->live_size);
  v_.grow(layout_->live_size);
}

void Model::write(const Param& p, Slot slot, const float* values) {
  if (slot == Slot::merged) throw std::invalid_argument("merged weights can only be read");
  if (slot == Slot::weight) {
    // Somebody may still read the version that is about to change.
    auto& arena = p.at.live ? weights_.live : weights_.frozen;
    if (arena.use_count() > 1) {
      auto fresh = std::make_shared<Buffer>(arena->size());
      std::memcpy(fresh->data(), arena->data(), arena->bytes());
      arena = fresh;
    }
    return pack_param(p, layout_->nr, values, weights_.writable(p.at));
  }
  if (!p.at.live) throw std::invalid_argument(p.name + " is not trained");
  pack_param(p, layout_->nr, values, slot_buffer(slot).data() + p.at.offset);
}

void Model::read(const Param& p, Slot slot, float* values) {
  if (slot == Slot::weight || slot == Slot::merged) {
    unpack_param(p, layout_->nr, weights_.at(p.at), values);
    if (slot == Slot::merged) add_adapter(p, values);
    return;
  }
  if (!p.at.live) throw std::invalid_argument(p.name + " is not trained");
  unpack_param(p, layout_->nr, slot_buffer(slot).data() + p.at.offset, values);
}

void Model::add_adapter(const Param& p, float* values) {
  const std::string module = p.name.substr(0, p.name.rfind('.'));
  // weight += scale · left · right; an embedding's factors are those of its transpose
  const bool embedding = layout_->find(module + ".lora_embedding_A") != nullptr;
  const Param* a = layout_->find(module + (embedding ? ".lora_embedding_A" : ".lora_A.weight"));
  const Param* b = layout_->find(module + (embedding ? ".lora_embedding_B" : ".lora_B.weight"));
  if (!a || !b || p.form == Form::vec) return;
  float scale = 0;
  for (const Adapter& adapter : layout_->config.adapters)
    if (adapter.module == module) scale = adapter.scale;
  const auto unpacked = [&](const Param& part, bool transposed) {
    std::vector<float> plain(part.rows * part.cols), out(plain.size());
    unpack_param(part, layout_->nr, weights_.at(part.at), plain.data());
    if (!transposed) return plain;
    for (int64_t r = 0; r < part.rows; r++)
      for (int64_t c = 0; c < part.cols; c++) out[c * part.rows + r] = plain[r * part.cols + c];
    return out;
  };
  const std::vector<float> left = unpacked(embedding ? *a : *b, embedding), right = unpacked(embedding ? *b : *a, embedding);
  const int64_t rank = a->rows;
  parallel_rows(p.rows, 64, [&](int64_t r0, int64_t r1) {
    for (int64_t r = r0; r < r1; r++)
      for (int64_t i = 0; i < rank; i++)
        kernels().axpy(scale * left[r * rank + i], right.data() + i * p.cols, values + r * p.cols, p.cols);
  });
}

Scores Model::forward(Pack pack, bool adapter, bool keep) {
  kept_ = false;
  pack_ = std::move(pack);
  int64_t longest = 0;
  for (int64_t s = 0; s < pack_.sequences(); s++) longest = std::max(longest, pack_.before(s) + pack_.length(s));
  pass_rope_ = rope(longest);
  Pass p = pass(adapter);
  trinity::forward(p, pack_);
  Scores out;
  if (layout_->lm_head) {
    out.logprob.resize(pack_.scored());
    out.entropy.resize(pack_.scored());
    out.squares.resize(pack_.scored());
    out.others.resize(pack_.others.size());
    score_tokens(p, pack_, {out.logprob.data(), out.entropy.data(), out.squares.data(), out.others.data()});
  } else {
    out.value.resize(pack_.scored());
    score_values(p, pack_, out.value.data());
  }
  kept_ = keep && layout_->config.trainable;
  count_memory();
  return out;
}

void Model::backward(const Scores& grads) {
  if (!kept_) throw std::logic_error("no forward pass to go back through");
  kept_ = false;
  make_gradients();
  const auto filled = [](std::vector<float> g, size_t size) {
    if (!g.empty() && g.size() != size) throw std::invalid_argument("wrong number of gradients");
    g.resize(size, 0.0f);
    return g;
  };
  const size_t scored = pack_.rows.size();
  Back b{pass(true), back_, grad_.data()};
  if (layout_->lm_head) {
    std::vector<float> logprob = filled(grads.logprob, scored), entropy = filled(grads.entropy, scored),
                       squares = filled(grads.squares, scored), others = filled(grads.others, pack_.others.size());
    score_tokens_back(b, pack_, {logprob.data(), entropy.data(), squares.data(), others.data()});
  } else {
    score_values_back(b, pack_, filled(grads.value, scored).data());
  }
  trinity::backward(b, pack_);
  count_memory();
}

void Model::count_memory() {
  std::lock_guard<std::mutex> guard(mutex_);
  memory_ = {weights_.bytes() + (rope_ ? rope_->bytes() : 0) + (spare_ ? spare_->bytes() : 0), grad_.bytes(),
             m_.bytes() + v_.bytes(), acts_.bytes() + back_.bytes()};
}

Memory Model::memory() const {
  std::lock_guard<std::mutex> guard(mutex_);
  return memory_;
}

}  // namespace trinity
