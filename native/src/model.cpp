#include "model.h"

#include <algorithm>
#include <stdexcept>

namespace trinity {

Model::Model(const Config& config)
    : layout_(std::make_shared<const Layout>(config)),
      weights_(Weights::allocate(layout_)),
      rope_(std::make_shared<const Rope>(config.inv_freq, config.max_len)) {}

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
  if (slot == Slot::weight) return unpack_param(p, layout_->nr, weights_.at(p.at), values);
  if (!p.at.live) throw std::invalid_argument(p.name + " is not trained");
  unpack_param(p, layout_->nr, slot_buffer(slot).data() + p.at.offset, values);
}

Scores Model::forward(Pack pack, bool adapter, bool keep) {
  kept_ = false;
  pack_ = std::move(pack);
  Pass p = pass(adapter);
  trinity::forward(p, pack_);
  Scores out;
  if (layout_->lm_head) {
    out.logprob.resize(pack_.scored());
    out.entropy.resize(pack_.scored());
    score_tokens(p, pack_, out.logprob.data(), out.entropy.data());
  } else {
    out.value.resize(pack_.scored());
    score_values(p, pack_, out.value.data());
  }
  kept_ = keep && layout_->config.trainable;
  return out;
}

void Model::backward(const Scores& grads) {
  if (!kept_) throw std::logic_error("no forward pass to go back through");
  kept_ = false;
  make_gradients();
  const auto filled = [&](const std::vector<float>& g) {
    if (!g.empty() && g.size() != static_cast<size_t>(pack_.scored())) throw std::invalid_argument("wrong number of gradients");
    return g.empty() ? std::vector<float>(pack_.scored(), 0.0f) : g;
  };
  Back b{pass(true), back_, grad_.data()};
  if (layout_->lm_head)
    score_tokens_back(b, pack_, filled(grads.logprob).data(), filled(grads.entropy).data());
  else
    score_values_back(b, pack_, filled(grads.value).data());
  trinity::backward(b, pack_);
}

Memory Model::memory() const {
  return {weights_.bytes() + rope_->bytes() + (spare_ ? spare_->bytes() : 0), grad_.bytes(), m_.bytes() + v_.bytes(),
          acts_.bytes() + back_.bytes()};
}

}  // namespace trinity
