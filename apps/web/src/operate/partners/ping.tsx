import { Box, Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { refresh } from '../../api/query-client';
import { consoleApi, dataOf } from '../../api/console-client';
import { forms } from '../../api/console-forms.generated';
import { Problem } from '../../shared/loaded';
import { StatusBadge } from '../../shared/status-badge';
import { FoldedBlock } from '../call-details';
import { deskTexts } from '../desk-texts';
import { Card, Fact } from '../card';
import { isOfField, OperationFields } from '../../desk/operation-fields';
import { fieldsOf, initialValues, isReady } from '../../desk/operation-form';
import { useMayOperate } from '../operator';

const words = deskTexts.ping;
const FIELDS = fieldsOf(forms.PingPartner);

/** Makes one call to the partner now, and shows the remedy where it fails. */
export function Ping({ partner }: { readonly partner: string }) {
  const mayOperate = useMayOperate();
  const [values, setValues] = useState(() => initialValues(FIELDS));
  const ping = useMutation({
    mutationFn: () =>
      dataOf(
        consoleApi.POST('/api/operate/partners/{partner}/ping', {
          params: { path: { partner } },
          body: { address: String(values['address']).trim() },
        }),
      ),
    onSuccess: () => refresh('operate', 'partners', partner),
  });
  if (!mayOperate) return null;
  return (
    <Card title={words.title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          ping.mutate();
        }}
      >
        <Stack gap="sm">
          <Text>{words.intro}</Text>
          <Group align="end">
            <Box flex={1}>
              <OperationFields
                fields={FIELDS}
                values={values}
                onChange={setValues}
                error={ping.error}
                placeholders={{ address: '0x…' }}
              />
            </Box>
            <Button type="submit" loading={ping.isPending} disabled={!isReady(FIELDS, values)}>
              {words.go}
            </Button>
          </Group>
          {ping.isError && !isOfField(FIELDS, ping.error) && <Problem problem={ping.error} />}
          {ping.data !== undefined && (
            <div role="status">
              <StatusBadge tone={ping.data.good ? 'good' : 'bad'}>
                {ping.data.good ? words.good : words.bad}
              </StatusBadge>
              <Text my="xs" className="text-of-others">
                {ping.data.mend}
              </Text>
              <Fact name={deskTexts.calls.outcome}>{ping.data.outcome}</Fact>
              <FoldedBlock
                title={words.report}
                text={JSON.stringify(ping.data.report, undefined, 2)}
              />
            </div>
          )}
        </Stack>
      </form>
    </Card>
  );
}
