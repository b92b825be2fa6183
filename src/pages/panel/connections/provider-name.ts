/** The names of providers as operators read them. */
import { CONNECTORS, splitConnectionKey } from '../../../rules/connectors.ts';
import { panelTexts } from '../locales/index.ts';

/** The name of a connector, or of that of a connection. */
export function providerName(key: string): string {
  const { connector, connectionId } = splitConnectionKey(key);
  const { ownProvider, testProvider } = panelTexts.payment;
  if (connector === 'upstream' && connectionId === null) return ownProvider;
  if (connector === 'vcard') return testProvider;
  if (connector === '3ds') return panelTexts.callbacks.types['3ds'];
  return (CONNECTORS as Readonly<Record<string, { title: string }>>)[connector]?.title ?? connector;
}
