import { Alert, Text } from '@mantine/core';
import { type ConsoleBody } from '../../api/console-client';
import { When, WithTimes } from '../../shared/when';
import { texts } from '../texts';

type Result = ConsoleBody<'ActionResult'>;

const words = texts.approvals;

/** The outcome of an action, or the time until which it waits for a second operator. */
export function ActionOutcome({ result }: { readonly result: Result }) {
  const { done, outcome, approval } = result;
  return (
    <Alert
      mb="md"
      role="status"
      color={done ? 'teal' : 'cyan'}
      variant="outline"
      title={done ? words.done : words.waits}
    >
      <Text className="text-of-others">
        {outcome === null ? (
          <>
            {words.waitsUntil} <When at={approval?.expiresAt} />
          </>
        ) : (
          <WithTimes text={outcome} />
        )}
      </Text>
    </Alert>
  );
}
