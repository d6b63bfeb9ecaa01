import { canonicalJson } from '#libs/domain';
import { HttpProblem } from '#libs/service';

/**
 * A 404 that says something about a wallet. It names the time of its request, as a 200 does, so that its signature shows
 * when it was true.
 */
export class NoStakeProblem extends HttpProblem {
  /** @param requestedAt ISO 8601 */
  constructor(
    message: string,
    readonly requestedAt: string,
  ) {
    super(404, message);
  }
}

export function errorBody(problem: HttpProblem): string {
  const { code, message } = problem;
  const requestedAt = problem instanceof NoStakeProblem ? problem.requestedAt : undefined;
  return canonicalJson({ success: false, code, message, requestedAt });
}
