/** An answer that is not a success; `code` and `message` are the service's. */
export class ApiProblem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly retryAfterSeconds: number | undefined,
  ) {
    super(message);
    this.name = 'ApiProblem';
  }

  /** The problem that an answer tells of; one that is none of our services' has no code of theirs. */
  static of(response: Response, body: unknown): ApiProblem {
    const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown };
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    return new ApiProblem(
      response.status,
      typeof code === 'string' ? code : 'UNEXPECTED_ANSWER',
      typeof message === 'string' ? message : `The answer has status ${response.status}.`,
      Number.isFinite(retryAfter) ? retryAfter : undefined,
    );
  }

  /** The same of an answer whose body was not read yet, and can be read afterwards. */
  static async from(response: Response): Promise<ApiProblem> {
    const body: unknown = await response
      .clone()
      .json()
      .catch(() => undefined);
    return ApiProblem.of(response, body);
  }
}
