/** Texts of the panel in German. */
import type { PanelTexts } from '../texts.ts';

export const paymentOrder: PanelTexts['paymentOrder'] = {
  title: 'Bestellposten',
  name: 'Artikel',
  quantity: 'Menge',
  unit: 'Einzelpreis',
  amount: 'Betrag',
  subtotal: 'Zwischensumme',
  shipping: 'Versand',
  tax: 'Steuer',
  discount: 'Rabatt',
  total: 'Summe',
  receipt: 'Beleg per E-Mail',
  receiptAttempt: 'Beleg per E-Mail, Versuch {attempt}',
  states: { waiting: 'wartet', sent: 'gesendet', failed: 'fehlgeschlagen' },
};
