import { Button, Code, Stack } from '@mantine/core';
import { useState } from 'react';
import { PageLink } from '../shared/page-link';
import { Dialog } from '../desk/dialog';
import { type ConsoleBody } from '../api/console-client';
import { deskTexts } from './desk-texts';
import { Fact } from './card';

type Call = ConsoleBody<'PartnerCall'>;

const words = deskTexts.calls;

export function callOutcome({ outcome, status, verdict, cause }: Call): string {
  if (outcome === null) return words.open;
  return [outcome, status, verdict ?? cause].filter((one) => one !== null).join(' · ');
}

/** The stored request and answer of a call, shown as plain text whatever they contain. */
export function CallDetails({ call }: { readonly call: Call }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button
        size="xs"
        variant="default"
        aria-label={`${words.details}: ${call.step} ${call.requestId}`}
        onClick={() => setIsOpen(true)}
      >
        {words.details}
      </Button>
      {isOpen && (
        <Dialog size="lg" title={`${words.title}: ${call.step}`} onClose={() => setIsOpen(false)}>
          <Stack gap="xs">
            <Fact name="X-API-REQUEST">{call.requestId}</Fact>
            <Fact name={words.outcome}>{callOutcome(call)}</Fact>
            {call.redemptionId !== null && (
              <Fact name={words.redemption}>
                <RedemptionAnchor id={call.redemptionId} />
              </Fact>
            )}
            <Fact name={words.request}>{call.request ?? ''}</Fact>
            <Block title={words.answer} text={call.answer ?? words.noAnswer} />
            <Block title={words.record} text={JSON.stringify(call.record, undefined, 2)} />
          </Stack>
        </Dialog>
      )}
    </>
  );
}

/** A block that is folded until its title is clicked. */
export function FoldedBlock({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <details>
      <summary>{title}</summary>
      <Block title={title} text={text} />
    </details>
  );
}

export function Block({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <div role="region" aria-label={title} tabIndex={0} className="scrolls">
      <Code block className="text-of-others arguments">
        {text}
      </Code>
    </div>
  );
}

interface AnchorProps {
  readonly id: string;
  /** Allows line breaks at dashes, for tables that are wide anyway. */
  readonly mayBreak?: boolean;
}

export function RedemptionAnchor({ id, mayBreak = false }: AnchorProps) {
  return (
    <PageLink
      to="/operate/redemptions/$redemption"
      params={{ redemption: id }}
      {...(!mayBreak && { className: 'amount' })}
      inherit
    >
      {id}
    </PageLink>
  );
}
