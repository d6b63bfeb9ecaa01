import {
  Alert,
  Button,
  Group,
  List,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleApi, dataOf } from '../api/console-client';
import { type components } from '../api/console.generated';
import { Loaded } from '../shared/loaded';
import { Problem } from '../shared/problem';
import { Bytes } from './bytes';
import { PageTitle } from '../desk/page-title';
import { texts } from './texts';
import { type Standing, useStanding } from './use-standing';

const words = texts.signature;
type Explanation = components['schemas']['SignatureExplanation'];

/** Why a signature does not verify. */
export function SignaturePage() {
  const standing = useStanding();
  return (
    <>
      <PageTitle>{texts.nav.signature}</PageTitle>
      <Text mb="md">{words.intro}</Text>
      <Loaded query={standing}>{(data) => <Debugger standing={data} />}</Loaded>
    </>
  );
}

const EMPTY = { method: 'GET', path: '/api/staking/snapshots', requestId: '', body: '' };

function Debugger({ standing: { credentials, callback } }: { readonly standing: Standing }) {
  const secrets = [
    ...credentials.map(({ keyPrefix }) => ({ value: keyPrefix, label: `${keyPrefix}…` })),
    ...(callback === null ? [] : [{ value: 'callback', label: words.callback }]),
  ];
  const [secretOf, setSecret] = useState(secrets[0]?.value ?? null);
  const [asked, setAsked] = useState(EMPTY);
  const [signature, setSignature] = useState('');
  const explain = useMutation({
    mutationFn: () => {
      const { requestId, ...rest } = asked;
      const body = {
        ...{ ...rest, secretOf: secretOf ?? '', signature },
        ...(requestId !== '' && { requestId }),
      };
      return dataOf(consoleApi.POST('/api/partner/signature', { body }));
    },
  });
  const field = (name: keyof typeof EMPTY) => ({
    label: words[name],
    value: asked[name],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => {
      setAsked({ ...asked, [name]: currentTarget.value });
    },
  });
  return (
    <Stack>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          explain.mutate();
        }}
      >
        <Stack>
          <Group align="end">
            <Select
              label={words.secretOf}
              data={secrets}
              value={secretOf}
              allowDeselect={false}
              onChange={setSecret}
            />
            <TextInput {...field('method')} w={110} />
            <TextInput {...field('requestId')} />
          </Group>
          <TextInput {...field('path')} />
          <Textarea {...field('body')} autosize minRows={4} maxRows={16} spellCheck={false} />
          <TextInput
            label={words.signature}
            required
            value={signature}
            onChange={({ currentTarget }) => {
              setSignature(currentTarget.value);
            }}
          />
          <Group>
            <Button type="submit" loading={explain.isPending}>
              {words.explain}
            </Button>
          </Group>
        </Stack>
      </form>
      {explain.error !== null && <Problem problem={explain.error} />}
      {explain.data !== undefined && (
        <Explained explanation={explain.data} body={asked.body} signature={signature} />
      )}
    </Stack>
  );
}

interface ExplainedProps {
  readonly explanation: Explanation;
  readonly body: string;
  readonly signature: string;
}

function Explained({ explanation, body, signature }: ExplainedProps) {
  const { content, matches, mistakes } = explanation;
  const hints = [
    ...(/[\r\n]$/.test(body) ? [words.trailing] : []),
    ...(/^[0-9a-f]{64}$/.test(signature) ? [] : [words.hex]),
  ];
  return (
    <Stack role="status">
      {matches && (
        <Alert variant="outline" color="teal" title={words.matches}>
          {' '}
        </Alert>
      )}
      {!matches && mistakes.length > 0 && (
        <Alert variant="outline" color="orange" title={words.mistakes}>
          <List>
            {mistakes.map((mistake) => (
              <List.Item key={mistake}>{mistake}</List.Item>
            ))}
          </List>
        </Alert>
      )}
      {!matches && mistakes.length === 0 && (
        <Alert variant="outline" color="orange" title={words.unknown}>
          <Text size="sm">{words.unknownMore}</Text>
          {hints.map((hint) => (
            <Text size="sm" key={hint}>
              {hint}
            </Text>
          ))}
        </Alert>
      )}
      <Bytes label={texts.common.signed}>{content}</Bytes>
    </Stack>
  );
}
