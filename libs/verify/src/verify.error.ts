/** The days could not be checked; the message says why and what to do, and holds no secret. */
export class UncheckedError extends Error {
  override name = 'UncheckedError';
}

/** The arguments are invalid; the message says which, and holds no secret. */
export class UsageError extends Error {
  override name = 'UsageError';
}
