/** Names that checkpoints of PyTorch, veRL and Megatron use. All of them stay names: they are not imported. */
const known = new Set([
  'collections.OrderedDict',
  'pathlib.PosixPath',
  'pathlib.Path',
  'argparse.Namespace',
  '_codecs.encode',
  'builtins.set',
  'torch.Size',
  'torch.device',
  'torch.Tensor',
  'torch.nn.parameter.Parameter',
  'torch.serialization._get_layout',
  'torch._tensor._rebuild_from_type_v2',
  'torch.storage.UntypedStorage',
  ...['tensor', 'tensor_v2', 'parameter', 'parameter_with_state', 'wrapper_subclass'].map(
    (name) => `torch._utils._rebuild_${name}`,
  ),
])

/** Families of names that hold state and nothing that acts when it stays unread. */
const prefixes = [
  'torch.distributed.',
  'megatron.core.',
  'megatron.training.',
  'numpy.core.multiarray._reconstruct',
  'numpy._core.multiarray._reconstruct',
]

const exact = /^torch\.(\w+Storage|float\d+|bfloat16|float8_\w+|u?int\d+|bool|strided)$|^numpy\.(ndarray|dtype)$/

export function isKnownGlobal(name: string): boolean {
  return known.has(name) || exact.test(name) || prefixes.some((prefix) => name.startsWith(prefix))
}
