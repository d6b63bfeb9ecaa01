import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { refresh } from '../../api/query-client';
import { consoleApi, dataOf } from '../../api/console-client';
import { Problem } from '../../shared/loaded';
import { StatusBadge } from '../../shared/status-badge';
import { FoldedBlock } from '../call-details';
import { deskTexts } from '../desk-texts';
import { Card, Fact } from '../card';
import { useMayOperate } from '../operator';

const words = deskTexts.ping;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** Makes one call to the partner now, and shows the remedy where it fails. */
export function Ping({ partner }: { readonly partner: string }) {
  const mayOperate = useMayOperate();
  const [address, setAddress] = useState('');
  const ping = useMutation({
    mutationFn: () =>
      dataOf(
        consoleApi.POST('/api/operate/partners/{partner}/ping', {
          params: { path: { partner } },
          body: { address: address.trim() },
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
            <TextInput
              label={words.address}
              placeholder="0x…"
              flex={1}
              value={address}
              onChange={({ currentTarget: { value } }) => setAddress(value)}
            />
            <Button type="submit" loading={ping.isPending} disabled={!ADDRESS.test(address.trim())}>
              {words.go}
            </Button>
          </Group>
          {ping.isError && <Problem problem={ping.error} />}
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
