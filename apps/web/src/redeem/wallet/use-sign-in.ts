import { useState } from 'react';
import { useConfig, useConnection } from 'wagmi';
import { useTexts } from '../../texts/texts-context';
import { useRedeemConfig } from '../config-context';
import { useProblemText } from '../problem-text';
import { type SignInStep } from './sign-in';

export interface SigningIn {
  /** The current step; undefined while no sign-in runs. */
  readonly step: SignInStep | undefined;
  /** Why the last attempt failed, as text for the player. */
  readonly problem: string | undefined;
  begin(wallet: string): Promise<void>;
}

export function useSignIn(): SigningIn {
  const { texts } = useTexts();
  const wallets = useConfig();
  const { connector } = useConnection();
  const { chain } = useRedeemConfig();
  const problemText = useProblemText();
  const [step, setStep] = useState<SignInStep>();
  const [problem, setProblem] = useState<string>();
  const begin = async (wallet: string): Promise<void> => {
    setProblem(undefined);
    setStep('waiting');
    try {
      // The code that signs is loaded only when it is needed.
      const { signIn } = await import('./sign-in');
      const end = await signIn({
        wallets,
        connector,
        wallet,
        chainId: chain.chainId,
        statement: texts.redeem.signIn.statement,
        onStep: setStep,
      });
      const { signIn: words, wallet: walletWords } = texts.redeem;
      if (end === 'rejected') setProblem(words.rejected);
      else if (end === 'requestOpen') setProblem(walletWords.requestOpen);
      else if (end !== 'signed-in') setProblem(words.failed);
    } catch (error) {
      setProblem(problemText(error));
    } finally {
      setStep(undefined);
    }
  };
  return { step, problem, begin };
}
