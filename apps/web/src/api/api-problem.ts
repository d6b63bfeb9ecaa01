/** An error answer, with the `code` and `message` of the service. */
export class ApiProblem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly retryAfterSeconds: number | undefined,
    /** The field of the request that is wrong. */
    readonly field?: string,
  ) {
    super(message);
    this.name = 'ApiProblem';
  }

  /** The problem in an answer. An answer that did not come from our services has the code `UNEXPECTED_ANSWER`. */
  static of(response: Response, body: unknown): ApiProblem {
    const { code, message, field } = (body ?? {}) as Readonly<Record<string, unknown>>;
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    return new ApiProblem(
      response.status,
      typeof code === 'string' ? code : 'UNEXPECTED_ANSWER',
      typeof message === 'string' ? message : `The answer has status ${response.status}.`,
      Number.isFinite(retryAfter) ? retryAfter : undefined,
      typeof field === 'string' ? field : undefined,
    );
  }

  /** Like `of`, for an answer whose body is unread; the body can still be read afterwards. */
  static async from(response: Response): Promise<ApiProblem> {
    const body: unknown = await response
      .clone()
      .json()
      .catch(() => undefined);
    return ApiProblem.of(response, body);
  }
}
