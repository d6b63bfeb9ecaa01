import { Button, Stack } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { PageLink } from '../../shared/page-link';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { forms } from '../../api/console-forms.generated';
import { Loaded, Skeletons } from '../../shared/loaded';
import { When } from '../../shared/when';
import { loadPart } from '../../shell/upgrades';
import { ActionOutcome } from '../approvals/second-operator';
import { deskTexts } from '../desk-texts';
import { Card, Fact } from '../card';
import { PageTitle } from '../../desk/page-title';
import { OperationDialog } from '../operation-dialog';
import { fieldsOf } from '../../desk/operation-form';
import {
  useHasSecondOperator,
  useMayOperate,
  usePartner,
  usePartnerConsequences,
} from '../operator';
import { Credentials } from './credentials';
import { Members } from './members';
import { PartnerByName } from './partner-by-name';
import { PartnerCalls } from './partner-calls';
import { Ping } from './ping';
import { StandingBadge } from '../badges';
import { Terms } from './terms';

const CallsOverTime = lazy(() => loadPart(() => import('./calls-over-time')));
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const words = deskTexts.partner;

export function PartnerPage() {
  const { partner: id } = useParams({ strict: false });
  if (id === undefined) return null;
  return UUID.test(id) ? <OnePartner id={id} /> : <PartnerByName name={id} />;
}

function OnePartner({ id }: { readonly id: string }) {
  const partner = usePartner(id);
  return (
    <Stack>
      <PageLink to="/operate/partners">{words.list}</PageLink>
      <Loaded query={partner}>
        {(found) => (
          <>
            <Head partner={found} />
            <Terms partner={found} />
            <Credentials partner={found} />
            <Suspense fallback={<Skeletons lines={6} />}>
              <CallsOverTime partner={id} />
            </Suspense>
            <PartnerCalls partner={id} />
            <Ping partner={id} />
            <Members partner={id} />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

function Head({ partner }: { readonly partner: ConsoleBody<'PartnerDetails'> }) {
  const [isAsked, setIsAsked] = useState(false);
  const [result, setResult] = useState<ConsoleBody<'ActionResult'>>();
  const mayOperate = useMayOperate();
  const { standing } = partner;
  const isPaused = standing === 'paused';
  return (
    <>
      <PageTitle
        actions={
          mayOperate &&
          standing !== 'no-callback' && (
            <Button variant="default" onClick={() => setIsAsked(true)}>
              {isPaused ? words.resume : words.pause}
            </Button>
          )
        }
      >
        {partner.name}
      </PageTitle>
      {result !== undefined && <ActionOutcome result={result} />}
      <Card title={words.about}>
        <Fact name={words.standing}>
          <StandingBadge partner={partner} />
        </Fact>
        <Fact name={words.id}>{partner.id}</Fact>
        <Fact name={words.created}>
          <When at={partner.createdAt} />
        </Fact>
      </Card>
      {isAsked && (
        <PauseDialog
          id={partner.id}
          isPaused={isPaused}
          onDone={setResult}
          onClose={() => setIsAsked(false)}
        />
      )}
    </>
  );
}

interface PauseDialogProps {
  readonly id: string;
  readonly isPaused: boolean;
  /** Gets the result of ending a pause; undefined for a pause. */
  readonly onDone: (result: ConsoleBody<'ActionResult'> | undefined) => void;
  readonly onClose: () => void;
}

const RESUME = fieldsOf(forms.ResumePartner);

function PauseDialog({ id, isPaused, onDone, onClose }: PauseDialogProps) {
  const consequenceOf = usePartnerConsequences(id);
  const hasSecond = useHasSecondOperator();
  const params = { path: { partner: id } };
  return isPaused ? (
    <OperationDialog
      title={words.resume}
      consequence={consequenceOf('partner resume')}
      fields={hasSecond ? RESUME : []}
      send={(body) =>
        dataOf(consoleApi.POST('/api/operate/partners/{partner}/resume', { params, body }))
      }
      onDone={onDone}
      onClose={onClose}
    />
  ) : (
    <OperationDialog
      title={words.pause}
      consequence={consequenceOf('partner pause')}
      fields={[]}
      send={() => dataOf(consoleApi.POST('/api/operate/partners/{partner}/pause', { params }))}
      onDone={() => onDone(undefined)}
      onClose={onClose}
    />
  );
}
