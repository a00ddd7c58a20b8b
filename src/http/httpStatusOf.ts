/** The HTTP status that a participant's HTTP answers have for a gRPC code; 500 for any other. */
const statuses: Readonly<Record<number, number>> = {
  1: 499,
  3: 400,
  4: 504,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  9: 400,
  10: 409,
  11: 400,
  12: 501,
  14: 503,
  16: 401,
};

/** The HTTP status of an error that came otherwise than as an HTTP answer. */
export const httpStatusOf = (grpcCode: unknown): number =>
  (typeof grpcCode === 'number' ? statuses[grpcCode] : undefined) ?? 500;
