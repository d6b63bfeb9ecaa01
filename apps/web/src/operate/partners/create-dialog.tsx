import { Button, Group, Modal, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { Problem } from '../../shared/problem';
import { deskTexts } from '../desk-texts';
import { newRequest } from '../new-request';
import { useConsequences } from '../use-consequences';
import { IssuedCredential, ONLY_BY_ITS_BUTTON } from './issued-credential';

const words = deskTexts.partner;
const LONGEST_NAME = 100;

/** A new partner with its first credential, which is shown once. */
export function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const queries = useQueryClient();
  const consequenceOf = useConsequences();
  // One dialog is one partner, however often it is sent.
  const [request] = useState(newRequest);
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
    // The secret is in this component only, and in no cache.
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: ['operate', 'partners'] }),
  });
  const issued: ConsoleBody<'IssuedCredential'> | undefined = create.data;
  return (
    <Modal
      opened
      onClose={onClose}
      title={deskTexts.partners.create}
      centered
      {...(issued !== undefined && ONLY_BY_ITS_BUTTON)}
      closeButtonProps={{ 'aria-label': deskTexts.close }}
    >
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
              onChange={({ currentTarget }) => {
                setName(currentTarget.value);
              }}
            />
            <NumberInput
              label={words.rate}
              min={1}
              allowDecimal={false}
              value={rate}
              onChange={setRate}
            />
            <NumberInput
              label={words.burst}
              min={1}
              allowDecimal={false}
              value={burst}
              onChange={setBurst}
            />
            {create.isError && <Problem problem={create.error} />}
            <Group justify="end">
              <Button variant="default" onClick={onClose}>
                {deskTexts.cancel}
              </Button>
              <Button type="submit" loading={create.isPending} disabled={name.trim() === ''}>
                {deskTexts.partners.create}
              </Button>
            </Group>
          </Stack>
        </form>
      ) : (
        <IssuedCredential issued={issued} onDone={onClose} />
      )}
    </Modal>
  );
}
