"""The losses once more, written from their definitions on padded [rows, width] tensors. Shares nothing with the graphs."""

import math

import torch
import torch.nn.functional as F


def aggregate(x, mask, mode):
    x = torch.where(mask, x, torch.zeros_like(x))
    if mode == "token-mean":
        return x.sum() / max(mask.sum().item(), 1)
    if mode == "seq-mean-token-sum":
        return x.sum(-1).sum() / max(len(x), 1)
    if mode == "seq-mean-token-mean":
        return (x.sum(-1) / mask.sum(-1).clamp(min=1)).sum() / max(len(x), 1)
    return x.sum() / max(x.shape[1], 1)


def row_mean(x, mask):
    return torch.where(mask, x, torch.zeros_like(x)).sum(-1, keepdim=True) / mask.sum(-1, keepdim=True).clamp(min=1)


def clip(args, default=0.2):
    both = args.get("clip_range", default)
    return args.get("clip_range_low", both), args.get("clip_range_high", both)


def surrogate(d, b, args, c=3.0):
    low, high = clip(args)
    d = d.clamp(-20, 20)
    a, ratio = b["advantage"], d.exp()
    loss = torch.maximum(-a * ratio, -a * ratio.clamp(1 - low, 1 + high))
    return torch.where(a < 0, torch.minimum(loss, -a * args.get("clip_ratio_c", c)), loss), d


def ppo(lp, b, args, mode):
    old = lp.detach() if args.get("fallback_to_policy_gradient") else b["old"]
    loss, d = surrogate(lp - old, b, args)
    if args.get("enable_sequence_masking"):
        bad = (row_mean(-d, b["mask"]) > args.get("delta_sequence_masking", 0.1)) & (b["advantage"] < 0)
        loss = torch.where(bad, torch.zeros_like(loss), loss)
    return aggregate(loss, b["mask"], mode)


def gspo(lp, b, args, mode):
    a = b["advantage"]
    ratio = (lp - lp.detach() + row_mean(lp - b["old"], b["mask"]).detach()).exp()
    low, high = args.get("clip_range_low", 3e-4), args.get("clip_range_high", 4e-4)
    return aggregate(torch.maximum(-a * ratio, -a * ratio.clamp(1 - low, 1 + high)), b["mask"], mode)


def opmd(lp, b, args, mode):
    return aggregate(-b["advantage"] * lp, b["mask"], mode) / (1 + args.get("tau", 1.0))


def sft(lp, b, args, mode):
    return aggregate(-lp, b["mask"], mode)


def sft_is(lp, b, args, mode):
    return aggregate(-lp * lp.detach().exp(), b["mask"], mode)


def phi(lp, cutoff=1.0):
    p = lp.detach().exp()
    return -(lp.clamp(max=math.log(cutoff)) if cutoff < 1 else lp) * p * (1 - p)


def sft_phi(lp, b, args, mode):
    return aggregate(phi(lp, args.get("cutoff_prob", 1.0)), b["mask"], mode)


def topr(lp, b, args, mode):
    ratio = (lp - b["old"]).exp()
    low = b["advantage"] <= args.get("advantage_threshold", 0.0)
    alpha = torch.where(low, ratio.clamp(0, 1), torch.ones_like(ratio)).detach()
    return aggregate(-alpha * b["advantage"] * lp, b["mask"], mode)


def cispo(lp, b, args, mode):
    a, ratio = b["advantage"], (lp - b["old"]).exp().detach()
    weight = ratio.clamp(1 - args.get("clip_range_low", 1.0), 1 + args.get("clip_range_high", 0.28))
    if args.get("enable_mask_clip"):
        high, low = args["mask_clip_range_high"], args["mask_clip_range_low"]
        weight = weight * (~(((ratio > 1 + high) & (a > 0)) | ((ratio < 1 - low) & (a < 0)))).double()
    return aggregate(-a * weight * lp, b["mask"], mode)


def sppo(lp, b, args, mode):
    d, eps = lp - b["old"], args.get("epsilon", 0.3)
    inside = (d.exp() >= 1 / (1 + eps)) & (d.exp() <= 1 + eps)
    return aggregate(-b["advantage"] * d * inside.double(), b["mask"], mode)


def sapo(lp, b, args, mode):
    a, ratio = b["advantage"], (lp - b["old"]).exp()
    tau = torch.where(a > 0, args.get("tau_pos", 1.0) * torch.ones_like(a), args.get("tau_neg", 1.05) * torch.ones_like(a))
    gate = (4 / tau) * torch.sigmoid(tau * (ratio - 1))
    return aggregate(-a * gate, b["mask"], mode)


def covariance(lp, b):
    a, lp, mask = b["advantage"], lp.detach(), b["mask"]
    return (a - a[mask].mean()) * (lp - lp[mask].mean())


def share(ratio, mask):
    return max(1, int(ratio * int(mask.sum())))


def clip_cov(lp, b, args, mode):
    a, ratio, mask = b["advantage"], (lp - b["old"]).exp(), b["mask"]
    low, high = clip(args)
    plain, clipped = -a * ratio, -a * ratio.clamp(1 - low, 1 + high)
    cov = covariance(lp, b)
    bounds = args.get("clip_cov_lb", 1.0), args.get("clip_cov_ub", 5.0)
    # one token at a time, the one with the most noise first
    candidates = [
        (float(b["noise"][r, t]), r, t)
        for r, t in mask.nonzero().tolist()
        if bounds[0] < cov[r, t] < bounds[1] and not clipped[r, t] > plain[r, t]
    ]
    keep = torch.ones_like(a)
    for _, r, t in sorted(candidates, reverse=True)[: share(args.get("clip_cov_ratio", 0.0002), mask)]:
        keep[r, t] = 0
    return aggregate(torch.maximum(plain, clipped) * keep, mask, mode)


def kl_cov(lp, b, args, mode):
    d, mask = lp - b["old"], b["mask"]
    cov = torch.where(mask, covariance(lp, b), -torch.inf).flatten()
    held = torch.zeros_like(cov).index_fill(0, cov.topk(share(args.get("kl_cov_ratio", 0.0002), mask)).indices, 1.0)
    return aggregate(-b["advantage"] * d.exp() + held.view_as(d) * args.get("ppo_kl_coef", 1.0) * d.abs(), mask, mode)


def m2po(lp, b, args, mode):
    a, d, mask = b["advantage"], lp - b["old"], b["mask"]
    counted = mask if args.get("m2_tokens") == "all" else mask & (((a > 0) & (d > 0)) | ((a < 0) & (d < 0)))
    left = counted.clone()
    moment = d.detach() ** 2
    # the greatest goes, and again, until the mean of those that are left is within the bound
    while left.any() and moment[left].mean() > args.get("m2_threshold", 0.04):
        left.view(-1)[torch.where(left, moment, -1.0).argmax()] = False
    dropped = counted & ~left
    return aggregate(torch.where(dropped, torch.zeros_like(d), -a * d.exp()), mask, mode)


def importance_sampling(lp, b, args, mode):
    return aggregate(-b["advantage"] * (lp - b["old"]).clamp(-20, 20).exp(), b["mask"], mode)


def rec(lp, b, args, mode):
    a, d = b["advantage"], lp - b["old"]
    ratio, seq = d.exp().detach(), row_mean(d, b["mask"]).exp().detach()
    up, down = 1 + args.get("epsilon_high", 0.2), 1 - args.get("epsilon_low", 0.2)

    def one_side(r):
        return ((r <= up) & (a >= 0)) | ((r >= down) & (a <= 0))

    two = (ratio >= down) & (ratio <= up)
    far_low, far_high = 1 - args.get("epsilon_low_prime", 0.6), 1 + args.get("epsilon_high_prime", 2.0)
    inside = {
        "none": torch.ones_like(two),
        "two-side": two,
        "one-side": one_side(ratio),
        "gspo-one-side": one_side(seq),
        "ring": two | ((a >= 0) & (ratio <= far_low)) | ((a <= 0) & (ratio >= far_high)),
    }[args.get("clip_mode", "none")]
    weight = {
        "none": torch.ones_like(a),
        "importance_sampling": ratio,
        "gspo_importance_sampling": seq,
        "advantage": (a / args.get("temp", 1.0)).exp(),
    }[args.get("weight", "none")]
    loss = -a * weight * lp * inside.double()
    coef = args.get("regularizer_coef", 0.0)
    loss = loss + {"none": 0.0 * lp, "k2": coef * d**2, "forward-kl": -coef * lp}[args.get("regularizer", "none")]
    return aggregate(loss, b["mask"], mode)


def parts(usual, expert, b, mode):
    """Each loss over rows of its own."""
    rows = b["expert"] == 1
    return [aggregate(loss[r], b["mask"][r], mode) for loss, r in ((usual, ~rows), (expert, rows))]


def mixture(lp, b, args, mode, mu, expert_loss):
    usual, expert = parts(surrogate(lp - b["old"], b, args)[0], expert_loss, b, mode)
    return (1 - mu) * usual + mu * expert


def r3l(lp, b, args, mode):
    attempts, examples = parts(-b["advantage"] * lp, -lp, b, mode)
    return attempts + args.get("sft_coef", 1.0) * examples


def mix(lp, b, args, mode):
    return mixture(lp, b, args, mode, args.get("mu", 0.1), -lp)


def mix_chord(lp, b, args, mode):
    step, warm, decay = b["step"], args.get("mu_warmup_steps", 0), args.get("mu_decay_steps", 0)
    peak, valley = args.get("mu_peak", 0.1), args.get("mu_valley", 0.1)
    if step < warm:
        mu = peak * step / warm
    elif step >= warm + decay:
        mu = valley
    else:
        mu = valley + (peak - valley) * (1 + math.cos(math.pi * (step - warm) / decay)) / 2
    return mixture(lp, b, args, mode, mu, phi(lp) if args.get("enable_phi_function", True) else -lp)


def dpo(lp, b, args, mode):
    beta, eps = args.get("beta", 0.1), args.get("label_smoothing", 0.0)
    gain = torch.where(b["mask"], lp - b["ref"], torch.zeros_like(lp)).sum(-1)
    z = beta * (gain[0::2] - gain[1::2])
    return (-F.logsigmoid(z) * (1 - eps) - F.logsigmoid(-z) * eps).mean()


def critique_grpo(lp, b, args, mode):
    low, high = clip(args)
    a, ratio, p = b["advantage"], (lp - b["old"]).exp(), lp.exp()
    own = torch.maximum(-a * ratio, -a * ratio.clamp(1 - low, 1 + high))
    off = -a * p / (p + args.get("gamma", 0.1))
    return aggregate(torch.where((b["off_policy"] == 1)[:, None], off, own), b["mask"], mode)


def gpg(lp, b, args, mode):
    return aggregate(-b["advantage"] * lp, b["mask"], mode)


def geo_mean(lp, b, args, mode):
    low, high = clip(args)
    a, d = b["advantage"], lp - b["old"]
    sign = torch.sign(a)
    nearest = sign * torch.min(sign * d, sign * d.clamp(-low, high))
    return (-row_mean(a, b["mask"]) * row_mean(nearest, b["mask"]).exp()).mean()


def dppo(lp, b, args, mode, inside):
    weight = (lp - b["old"]).clamp(-20, 20).exp().clamp(max=args.get("clip_ratio_c", 20.0)).detach()
    return aggregate(-b["advantage"] * weight * lp * inside.double(), b["mask"], mode)


def dppo_tv(lp, b, args, mode):
    low, high = clip(args)
    change = (lp.exp() - b["old"].exp()).detach()
    return dppo(lp, b, args, mode, torch.where(b["advantage"] > 0, change <= high, change >= -low))


def dppo_kl(lp, b, args, mode):
    low, high = clip(args)
    p, q = lp.exp().clamp(max=1).detach(), b["old"].exp().clamp(max=1)
    divergence = q * (b["old"] - lp.detach()) + (1 - q) * ((1 - q + 1e-8) / (1 - p + 1e-8)).log()
    inside = torch.where(
        b["advantage"] > 0, (divergence <= high) | (p <= q), (divergence <= low) | (p >= q)
    )
    return dppo(lp, b, args, mode, inside)


def kl(name, lp, ref, old):
    d = ref - lp
    k3 = d.exp() - 1 - d
    c = d.clamp(-20, 20)
    return {
        "k1": lp - ref,
        "k2": (lp - ref) ** 2 / 2,
        "k3": k3,
        "low_var_kl": (c.exp() - 1 - c).clamp(-10, 10),
        "abs": (lp - ref).abs(),
        "corrected_k3": (lp - old).exp().clamp(0, 2) * k3,
    }[name]


POLICY = {
    f.__name__: f
    for f in (ppo, gspo, opmd, sft, sft_is, sft_phi, topr, cispo, sppo, sapo, importance_sampling, rec, mix, mix_chord)
    + (dpo, critique_grpo, gpg, geo_mean, dppo_tv, dppo_kl, clip_cov, kl_cov, m2po, r3l)
}


def total(case, rows, scores):
    """policy − entropy_coef·H + kl_coef·KL and its gradient by log-prob and entropy, laid out as the scores."""
    width = max(len(row["mask"]) for row in rows)
    lengths = [len(row["mask"]) for row in rows]

    def pad(lists):
        return torch.tensor([x + [0.0] * (width - len(x)) for x in lists], dtype=torch.float64)

    def unflatten(flat):
        out, at = [], 0
        for n in lengths:
            out.append(flat[at : at + n])
            at += n
        return pad(out).requires_grad_()

    lp, entropy = unflatten(scores["logprob"]), unflatten(scores["entropy"])
    b = {name: pad([row["columns"][name] for row in rows]) for name in ("old", "ref", "advantage", "noise")}
    b["mask"] = pad([row["mask"] for row in rows]).bool()
    for name in ("expert", "off_policy"):
        b[name] = torch.tensor([row["columns"][name] for row in rows])
    b["lengths"], b["step"] = lengths, rows[0]["columns"]["step"]
    mode = case["mode"]
    loss = POLICY[case["policy"]](lp, b, case["args"], mode)
    loss = loss - case["entropy_coef"] * aggregate(entropy, b["mask"], mode)
    if case["kl"] != "none":
        loss = loss + case["kl_coef"] * aggregate(kl(case["kl"], lp, b["ref"], b["old"]), b["mask"], mode)
    loss.backward()

    def flat(x):
        grad = x.grad if x.grad is not None else torch.zeros_like(x)
        return [g for r, n in enumerate(lengths) for g in grad[r, :n].tolist()]

    return loss.item(), {"logprob": flat(lp), "entropy": flat(entropy)}
