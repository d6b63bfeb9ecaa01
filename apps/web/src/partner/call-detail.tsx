import { type ConsoleBody } from '../api/console-client';
import { Alert, Stack, Text } from '@mantine/core';
import { PageLink } from '../shared/page-link';
import { Dialog } from '../desk/dialog';
import { When } from '../shared/when';
import { Bytes } from './bytes';
import { questionOf } from './signature-question';
import { texts } from './texts';
import { type Tone } from '../shared/status-badge';

const words = texts.calls;

export function CallDetail({
  call,
  onClose,
}: {
  readonly call: Call;
  readonly onClose: () => void;
}) {
  const { begunAt, tookMs, requestId, error, explanation } = call;
  return (
    <Dialog onClose={onClose} title={`${words.detail}: ${call.step}`} size="xl">
      <Stack>
        <Text>
          <When at={begunAt} />
          {tookMs !== null && ` · ${tookMs} ms`}
        </Text>
        <Text>
          {[outcomeText(call), explanation?.says].filter((one) => one !== undefined).join(': ')}
        </Text>
        {explanation !== null && explanation.remedy !== null && (
          <Alert variant="outline" color="orange" title={words.advice}>
            {explanation.remedy}
          </Alert>
        )}
        {error !== null && <Bytes label={words.error}>{error}</Bytes>}
        <Bytes label="X-API-REQUEST">{requestId}</Bytes>
        <Asked call={call} />
        <Came call={call} />
      </Stack>
    </Dialog>
  );
}

function Asked({ call: { request } }: { readonly call: Call }) {
  if (request === null) return null;
  return (
    <>
      <Bytes label={words.request}>{`${request.method} ${request.target}`}</Bytes>
      {request.body !== null && <Bytes label={words.requestBody}>{request.body}</Bytes>}
    </>
  );
}

/** A question to the debugger answers what breaks one of these. */
const SIGNATURE_RULES = ['signature-valid', 'signature-present', 'signs-all-responses'];

function Came({ call }: { readonly call: Call }) {
  const { answer, baseString, explanation, clockDifferenceSeconds: difference } = call;
  if (answer === null) return null;
  const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`);
  const isSignatureWrong = SIGNATURE_RULES.includes(explanation?.rule ?? '');
  const question = questionOf(call);
  return (
    <>
      <Bytes label={words.headers}>{headers.join('\n')}</Bytes>
      <Bytes label={`${words.body}, ${words.bytes(answer.bodyBytes)}`}>{answer.body}</Bytes>
      {difference !== null && Math.abs(difference) > 1 && (
        <Text size="sm">{words.clock(difference)}</Text>
      )}
      {baseString !== null && <SignedContent baseString={baseString} />}
      {isSignatureWrong && question !== undefined && (
        <PageLink to="/partner/signature" state={(before) => ({ ...before, kept: { question } })}>
          {words.debug}
        </PageLink>
      )}
    </>
  );
}

function SignedContent({ baseString }: { readonly baseString: NonNullable<Call['baseString']> }) {
  const { text, sha256, isWhole } = baseString;
  return (
    <>
      <Bytes label={texts.common.signed}>{text}</Bytes>
      {isWhole ? <Bytes label="SHA-256">{sha256}</Bytes> : <Text size="sm">{words.notWhole}</Text>}
    </>
  );
}

export type Call = ConsoleBody<'OwnCall'>;

export function toneOf({ outcome, explanation }: Call): Tone {
  if (outcome === null) return 'busy';
  return explanation?.isUsable === true ? 'good' : 'bad';
}

export function outcomeText({ outcome, answer }: Call): string {
  const shown = texts.calls.outcomes[outcome ?? 'open'] ?? '';
  return answer === null ? shown : `${shown} ${answer.status}`;
}
