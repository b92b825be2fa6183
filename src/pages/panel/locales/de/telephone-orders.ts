/** The texts of the telephone orders in German. */
import type { PanelTexts } from '../texts.ts';

export const telephoneOrders: PanelTexts['telephoneOrders'] = {
  hint: 'Geben Sie ein, was am Telefon bestellt wird. Die nächste Seite fragt nach der Karte. Schreiben Sie die Kartennummer nicht auf.',
  account: 'Konto',
  amount: 'Betrag',
  currency: 'Währung',
  description: 'Was bestellt wird',
  order: 'Bestellnummer',
  orderHint: 'Leer heißt: eine neue.',
  make: 'Weiter zur Karte',
  notAllowed:
    'Kein Konto nimmt telefonische Bestellungen an. Der Betreiber des Gateways erlaubt sie in den Einstellungen eines Kontos.',
  taken: 'Bestellungen, die Sie angenommen haben',
  takenAt: 'Angenommen',
  status: 'Status',
};
