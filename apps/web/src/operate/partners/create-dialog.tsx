import { Button, Group, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { refresh } from '../../api/query-client';
import { Dialog, HELD } from '../../desk/dialog';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { Problem } from '../../shared/loaded';
import { randomUuid } from '../../shared/random-uuid';
import { deskTexts } from '../desk-texts';
import { IssuedCredential } from './issued-credential';
import { useConsequences } from '../operator';

const words = deskTexts.partner;
const LONGEST_NAME = 100;

/** Creates a partner with its first credential, which is shown once. */
export function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const consequenceOf = useConsequences();
  // The id of the request makes repeated sending idempotent: one dialog creates one partner.
  const [request] = useState(randomUuid);
  const [name, setName] = useState('');
  const [rate, setRate] = useState<number | string>(20);
  const [burst, setBurst] = useState<number | string>(100);
  const create = useMutation({
    mutationFn: () =>
      dataOf(
        consoleApi.POST('/api/operate/partners', {
          body: { request, name, rate: Number(rate), burst: Number(burst) },
        }),
      ),
    // Keeps the secret in this component only, and out of the query cache.
    gcTime: 0,
    onSuccess: () => refresh('operate', 'partners'),
  });
  const issued: ConsoleBody<'IssuedCredential'> | undefined = create.data;
  const isHeld = create.isPending || issued !== undefined;
  return (
    <Dialog onClose={onClose} title={deskTexts.partners.create} centered {...(isHeld && HELD)}>
      {issued === undefined ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            create.mutate();
          }}
        >
          <Stack>
            <Text>{consequenceOf('partner create')}</Text>
            <TextInput
              label={words.name}
              required
              data-autofocus
              maxLength={LONGEST_NAME}
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
            <NumberInput
              label={words.rate}
              allowDecimal={false}
              error={problemOf(rate)}
              value={rate}
              onChange={setRate}
            />
            <NumberInput
              label={words.burst}
              allowDecimal={false}
              error={problemOf(burst)}
              value={burst}
              onChange={setBurst}
            />
            {create.isError && <Problem problem={create.error} />}
            <Group justify="end">
              <Button variant="default" disabled={create.isPending} onClick={onClose}>
                {deskTexts.cancel}
              </Button>
              <Button
                type="submit"
                loading={create.isPending}
                disabled={name.trim() === '' || !isRate(rate) || !isRate(burst)}
              >
                {deskTexts.partners.create}
              </Button>
            </Group>
          </Stack>
        </form>
      ) : (
        <IssuedCredential issued={issued} onDone={onClose} />
      )}
    </Dialog>
  );
}

const MAX_INT = 2_147_483_647;

function isRate(value: number | string): boolean {
  return Number.isInteger(Number(value)) && Number(value) >= 1 && Number(value) <= MAX_INT;
}

/** Validates the field while it is being edited, without changing the text. */
function problemOf(value: number | string): string | null {
  return isRate(value) ? null : words.notRate;
}
