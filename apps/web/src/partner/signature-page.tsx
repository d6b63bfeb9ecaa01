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
import { consoleApi, type ConsoleBody, dataOf } from '../api/console-client';
import { Loaded, Problem } from '../shared/loaded';
import { useKept } from '../shared/use-kept';
import { Bytes } from './bytes';
import { PageTitle } from '../desk/page-title';
import { CALLBACK, lacksQuery, NO_QUESTION, type SignatureQuestion } from './signature-question';
import { texts } from './texts';
import { type Standing, useStanding } from './queries';

const words = texts.signature;
type Explanation = ConsoleBody<'SignatureExplanation'>;

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

function Debugger({ standing: { credentials, callback } }: { readonly standing: Standing }) {
  const secrets = [
    ...credentials.map(({ keyPrefix }) => ({ value: keyPrefix, label: `${keyPrefix}…` })),
    ...(callback === null ? [] : [{ value: CALLBACK, label: words.callback }]),
  ];
  // Stored when the question is sent, not with each key: browsers limit the rate of history updates.
  const [kept, keep] = useKept('question', NO_QUESTION);
  const [asked, setAsked] = useState(kept);
  const secretOf = asked.secretOf ?? secrets[0]?.value ?? null;
  const explain = useMutation({
    mutationFn: () => {
      keep(asked);
      const { requestId, ...rest } = asked;
      const body = {
        ...{ ...rest, secretOf: secretOf ?? '' },
        ...(requestId !== '' && { requestId }),
      };
      return dataOf(consoleApi.POST('/api/partner/signature', { body }));
    },
  });
  const field = (name: Exclude<keyof SignatureQuestion, 'secretOf'>) => ({
    label: words[name],
    value: asked[name],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      setAsked({ ...asked, [name]: currentTarget.value }),
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
              onChange={(chosen) => setAsked({ ...asked, secretOf: chosen })}
            />
            <TextInput {...field('method')} w={110} />
            <TextInput {...field('requestId')} />
          </Group>
          <TextInput {...field('path')} required placeholder={words.pathHint} />
          <Textarea {...field('body')} autosize minRows={4} maxRows={16} spellCheck={false} />
          <TextInput {...field('signature')} required />
          <Group>
            <Button type="submit" loading={explain.isPending}>
              {words.explain}
            </Button>
          </Group>
        </Stack>
      </form>
      {explain.error !== null && <Problem problem={explain.error} />}
      {explain.data !== undefined && <Explained explanation={explain.data} question={kept} />}
    </Stack>
  );
}

interface ExplainedProps {
  readonly explanation: Explanation;
  readonly question: SignatureQuestion;
}

function Explained({ explanation, question }: ExplainedProps) {
  const { body, signature } = question;
  const { content, matches, mistakes } = explanation;
  const hints = [
    ...(lacksQuery(question) ? [words.noQuery] : []),
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
