import { Alert } from '@mantine/core';
import { texts } from './texts';

/** Why a sign-in did not work, in a sentence. */
export function ProblemAlert({ code }: { readonly code: string }) {
  const { problems } = texts;
  const known: Readonly<Record<string, string>> = problems;
  return (
    <Alert color="yellow" role="alert">
      {Object.hasOwn(known, code) ? known[code] : problems.other}
    </Alert>
  );
}
