/** Texts of the panel in German. */
import type { PanelTexts } from '../texts.ts';

export const erasure: PanelTexts['erasure'] = {
  action: 'Personenbezogene Daten löschen',
  title: 'Personenbezogene Daten löschen',
  lead: 'Der Zahler hat darum gebeten, oder Sie brauchen die Daten nicht mehr. Das lässt sich nicht rückgängig machen.',
  lost: 'Was verloren geht',
  losses: [
    'Name, E-Mail-Adresse, Telefon, Anschrift, IP-Adresse und alles andere, was den Zahler erkennen lässt',
    'Die Felder der Zahlungsart und die eigenen Daten des Händlers',
    'Die gespeicherte Karte: Ihr Token gilt nicht mehr, wiederkehrende Zahlungen werden abgelehnt, und Abos damit enden',
    'Die Inhalte der Callbacks, die gespeicherten API-Aufrufe und die Meldungen des Anbieters',
  ],
  stays: 'Was bleibt',
  kept: [
    'Beträge, Daten, Zustände, der Verlauf, alle IDs und die maskierte Karte: Die Zahlung kann erstattet werden',
    'Nachweise einer Rückbelastung und der Text, dem der Zahler zugestimmt hat, ohne den Namen',
    'Frühere Sicherungen, und was der Anbieter und der Händler haben',
  ],
  scope: 'Zu löschende Zahlungen',
  order: 'Alle Versuche dieser Bestellung',
  payer: 'Alle Zahlungen von {email} in diesem Konto',
  confirm: 'Endgültig löschen',
  partly: 'Gelöscht. Diese Zahlungen sind nicht abgeschlossen und behalten ihre Daten:',
  more: 'Es gibt weitere Zahlungen dieses Zahlers: Senden Sie das Formular noch einmal.',
  erasedAt: 'Personenbezogene Daten gelöscht',
  bodyErased: 'Der Inhalt wurde gelöscht.',
};
