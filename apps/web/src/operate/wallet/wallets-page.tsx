import { Button, Group, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { PageTitle } from '../../desk/page-title';
import { texts } from '../texts';

export const ADDRESS = /^0x[0-9a-f]{40}$/i;
const words = texts.wallet;

export function WalletsPage() {
  const navigate = useNavigate();
  const form = useForm({
    initialValues: { wallet: '' },
    validate: { wallet: (text) => (ADDRESS.test(text.trim()) ? null : words.notAddress) },
  });
  const find = form.onSubmit(({ wallet: text }) => {
    const wallet = text.trim().toLowerCase();
    void navigate({ to: '/operate/wallets/$wallet', params: { wallet } });
  });
  return (
    <>
      <PageTitle>{texts.nav.wallets}</PageTitle>
      <Text mb="md">{words.intro}</Text>
      <form onSubmit={find}>
        <Group align="end">
          <TextInput
            label={words.find}
            description={words.findHint}
            {...form.getInputProps('wallet')}
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
