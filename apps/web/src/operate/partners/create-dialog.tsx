import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { forms } from '../../api/console-forms.generated';
import { refresh } from '../../api/query-client';
import { Dialog, HELD } from '../../desk/dialog';
import { Problem } from '../../shared/loaded';
import { randomUuid } from '../../shared/random-uuid';
import { deskTexts } from '../desk-texts';
import { isOfField, OperationFields } from '../../desk/operation-fields';
import { changesOf, fieldsOf, initialValues, isReady } from '../../desk/operation-form';
import { useConsequences } from '../operator';
import { IssuedCredential } from './issued-credential';

/** The callback is set afterwards, which may need a second operator. */
const FIELDS = fieldsOf(forms.CreatePartner).filter(({ group }) => group === undefined);

/** Creates a partner with its first credential, which is shown once. */
export function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const consequenceOf = useConsequences();
  // The id of the request makes repeated sending idempotent: one dialog creates one partner.
  const [request] = useState(randomUuid);
  const [form, setForm] = useState(() => initialValues(FIELDS));
  const create = useMutation({
    mutationFn: () => {
      const body = { request, ...changesOf(FIELDS, {}, form) };
      return dataOf(
        consoleApi.POST('/api/operate/partners', { body: body as ConsoleBody<'CreatePartner'> }),
      );
    },
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
            <OperationFields
              fields={FIELDS}
              values={form}
              onChange={setForm}
              error={create.error}
            />
            {create.isError && !isOfField(FIELDS, create.error) && (
              <Problem problem={create.error} />
            )}
            <Group justify="end">
              <Button variant="default" disabled={create.isPending} onClick={onClose}>
                {deskTexts.cancel}
              </Button>
              <Button type="submit" loading={create.isPending} disabled={!isReady(FIELDS, form)}>
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
