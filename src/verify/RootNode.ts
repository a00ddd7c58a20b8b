import type { Create, DamlTransaction_Node, Exercise } from '@canton-network/core-ledger-proto';

/** The node of a command: what it creates or exercises. */
export type RootNode =
  { readonly kind: 'create'; readonly create: Create } | { readonly kind: 'exercise'; readonly exercise: Exercise };

/** A node of any kind; the package does not export its type. */
export type NodeType = Extract<DamlTransaction_Node['versionedNode'], { oneofKind: 'v1' }>['v1']['nodeType'];
