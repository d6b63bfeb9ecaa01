import { createContext } from 'react';

/** Whether the top of the page says that the service is away: its parts do not say it again. */
export const OutageContext = createContext(false);
