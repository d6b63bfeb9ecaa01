import { ApiProblem } from '../api/api-problem';
import { formatWait } from '../format/time';
import { type Texts } from '../texts/en';
import { useTexts } from '../texts/texts-context';

type Said = { readonly code: string; readonly retryAfterSeconds?: number | null | undefined };

/** One sentence about a refusal, with the time to wait. Codes and texts of a service are never shown to a player. */
export function problemText(
  { redeem }: Texts,
  { code, retryAfterSeconds }: Said,
  locale: string,
): string {
  const known: Readonly<Record<string, string>> = redeem.refusals;
  const text = known[code] ?? redeem.refusals.UNEXPECTED_ANSWER;
  if (retryAfterSeconds === undefined || retryAfterSeconds === null) return text;
  return `${text} ${redeem.waitUntil(formatWait(retryAfterSeconds, locale))}`;
}

/** Like `problemText`, for any thrown value: an error without an answer counts as a lost connection. */
export function useProblemText(): (error: unknown) => string {
  const { texts, locale } = useTexts();
  return (error) =>
    problemText(texts, error instanceof ApiProblem ? error : { code: 'NO_CONNECTION' }, locale);
}

/** Like `useProblemText`, for requests that the page repeats by itself, so the time to wait is left out. */
export function useAskedAgainText(): (error: unknown) => string {
  const { texts, locale } = useTexts();
  const problem = useProblemText();
  return (error) => {
    if (error instanceof ApiProblem && error.status < 500) return problem(error);
    const code = error instanceof ApiProblem ? error.code : 'NO_CONNECTION';
    return `${problemText(texts, { code }, locale)} ${texts.redeem.asksAgain}`;
  };
}
