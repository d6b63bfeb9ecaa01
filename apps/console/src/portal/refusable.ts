import { PermanentError } from '#libs/domain';
import { OptionError } from '#libs/operations';
import { HttpProblem } from '#libs/service';

/**
 * What the work refuses as an answer of the route.
 * @param statuses by the code of the refusal
 * @throws HttpProblem; what has no status is thrown as it is
 */
export async function refusable<T>(
  statuses: Readonly<Record<string, number>>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OptionError) {
      throw new HttpProblem(400, error.message, { code: 'BAD_REQUEST' });
    }
    const status = error instanceof PermanentError ? statuses[error.code] : undefined;
    if (status === undefined || !(error instanceof PermanentError)) throw error;
    throw new HttpProblem(status, error.message, { code: error.code });
  }
}
