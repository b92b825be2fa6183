/** Texts of the panel in German. */
import type { PanelTexts } from '../texts.ts';

export const reports: PanelTexts['reports'] = {
  from: 'Von (UTC)',
  to: 'Bis (UTC)',
  account: 'Konto',
  allAccounts: 'Alle Konten',
  groupBy: 'Gruppieren nach',
  groups: {
    day: 'Tag',
    mid: 'Konto',
    brand: 'Zahlungsart',
    currency: 'Währung',
    connection: 'Anbieter',
    decline_class: 'Art der Ablehnung',
  },
  show: 'Bericht zeigen',
  notADay: 'Geben Sie ein Datum ein, etwa 2026-07-31.',
  fromAfterTo: 'Der erste Tag darf nicht nach dem letzten liegen.',
  unknownAccount: 'Wählen Sie ein Konto aus der Liste.',
  rows: 'Bericht',
  totals: 'Summen',
  payments: 'Zahlungen',
  settled: 'Bezahlt',
  declined: 'Abgelehnt',
  captured: 'Eingezogen',
  refunded: 'Erstattet',
  chargedBack: 'Rückbelastet',
  paidOut: 'Ausgezahlt',
  net: 'Netto',
  tooLong:
    'Dieser Bericht ist zu lang für eine Seite. Laden Sie ihn als CSV herunter, verkürzen Sie den Zeitraum oder gruppieren Sie weniger.',
  none: 'In dieser Zeit ist nichts geschehen',
  noneHint: 'Wählen Sie andere Tage oder ein anderes Konto.',
};
