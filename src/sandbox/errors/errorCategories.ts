/** Per error category: its gRPC status code, and whether it comes with a retry hint. */
export const errorCategories: Readonly<Record<number, { readonly grpc: number; readonly retried: boolean }>> = {
  1: { grpc: 14, retried: true },
  2: { grpc: 10, retried: true },
  3: { grpc: 4, retried: true },
  4: { grpc: 13, retried: false },
  6: { grpc: 16, retried: false },
  7: { grpc: 7, retried: false },
  8: { grpc: 3, retried: false },
  9: { grpc: 9, retried: false },
  10: { grpc: 6, retried: false },
  11: { grpc: 5, retried: false },
  12: { grpc: 11, retried: true },
  14: { grpc: 12, retried: false },
};
