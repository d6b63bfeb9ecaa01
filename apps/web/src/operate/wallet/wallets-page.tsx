import { Button, Group, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type SyntheticEvent, useState } from 'react';
import { PageTitle } from '../../desk/page-title';
import { texts } from '../texts';

export const ADDRESS = /^0x[0-9a-f]{40}$/i;
const words = texts.wallet;

export function WalletsPage() {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [isWrong, setWrong] = useState(false);
  const find = (event: SyntheticEvent): void => {
    event.preventDefault();
    const wallet = text.trim().toLowerCase();
    setWrong(!ADDRESS.test(wallet));
    if (ADDRESS.test(wallet)) void navigate({ to: '/operate/wallets/$wallet', params: { wallet } });
  };
  return (
    <>
      <PageTitle>{texts.nav.wallets}</PageTitle>
      <Text mb="md">{words.intro}</Text>
      <form onSubmit={find}>
        <Group align="end">
          <TextInput
            label={words.find}
            description={words.findHint}
            error={isWrong && words.notAddress}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
            w="100%"
            maw={480}
            spellCheck={false}
            autoComplete="off"
          />
          <Button type="submit">{words.findIt}</Button>
        </Group>
      </form>
    </>
  );
}
