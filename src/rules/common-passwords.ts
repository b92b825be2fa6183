/** The most common passwords of 12 characters or more, without spaces and punctuation, in lower case. */

export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `
  123456789012 1234567890123 12345678901234 123456789012345 1234567890123456 0123456789012 012345678910 12345678910
  1234567891011 123456789123 1234567899876 123456789987654321 12345678987654321 1234554321 123123123123 123321123321
  987654321098 9876543210987 0987654321098 112233445566 11223344556677 111222333444 121212121212 123412341234
  qwertyuiop12 qwertyuiop123 qwertyuiopasdf qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm qwertyqwerty qwerty123456
  qwerty1234567 qwerty12345678 qwerty123456789 123456qwerty 1234567890qwerty 1234567890qwertyuiop qwertyasdfgh
  qwertyasdfzxcv qwerty123qwerty asdfghjkl123 asdfghjklqwertyuiop zxcvbnm12345 zxcvbnmasdfghjkl 1qaz2wsx3edc
  1qaz2wsx3edc4rfv 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i 1q2w3e4r5t6y7u8i9o0p q1w2e3r4t5y6 zaq12wsxcde3
  qazwsxedcrfv qazwsxedcrfvtgb azertyuiop12 azertyuiop123 azertyuiopqsdfghjklm qwertzuiop12 qwertzuiop123
  abcdefghijkl abcdefghijklm abcdefghijklmnop abcdefghijklmnopqrstuvwxyz abcdef123456 abcd12345678 abc123456789
  a1b2c3d4e5f6 aa1234567890 a12345678901 password1234 password12345 password123456 password1234567 password12345678
  password123456789 passwordpassword password123password password2023 password2024 password2025 password2026
  mypassword123 mypassword1234 newpassword1 newpassword12 newpassword123 thepassword1 yourpassword mysecretpassword
  secretpassword passw0rd1234 passw0rd12345 p4ssw0rd1234 pa55word1234 p455w0rd1234 passwordadmin adminpassword
  adminadmin12 adminadmin123 adminadminadmin admin1234567 admin12345678 admin123456789 administrator administrator1
  administrator12 administrator123 administrator1234 changemeplease changeme1234 changeme12345 changeme123456
  changemenow12 letmeinletmein letmein12345 letmein123456 letmeinplease letmeinnow123 welcome12345 welcome123456
  welcome1234567 welcomewelcome welcomehome1 welcomeback1 iloveyou1234 iloveyou12345 iloveyou123456 iloveyouforever
  iloveyousomuch iloveyoubaby iloveyou2025 ilovemyself1 ihateyou1234 loveyouforever monkey123456 dragon123456
  football1234 football12345 football123456 baseball1234 baseball12345 basketball12 basketball123 superman1234
  superman12345 batman123456 sunshine1234 sunshine12345 princess1234 princess12345 princess123456 michael12345
  charlie12345 jordan123456 liverpool123 liverpoolfc1 chelsea12345 arsenal12345 manchester12 manchesterunited
  starwars1234 pokemon12345 computer1234 computer12345 internet1234 internet12345 samsung12345 whatever1234
  trustno1trustno1 masterkey123 master123456 mastermaster shadow123456 summer123456 winter123456 spring123456
  autumn123456 january12345 december2025 september123 november2025 testtesttest test12345678 test123456789
  testing12345 testing123456 testpassword testpassword1 guest1234567 demo12345678 default12345 defaultpassword
  temppassword temppassword1 temporary123 temporarypassword root12345678 rootroot1234 rootpassword toor12345678
  user12345678 username1234 userpassword login1234567 loginpassword access123456 accessgranted secret123456
  secretsecret supersecret1 supersecret123 verysecret123 topsecret123 nothing12345 nopassword12 forgetpassword
  forgotpassword idontknow123 correcthorsebatterystaple correcthorse correcthorsebattery thisismypassword
  thisisapassword thisispassword opensesame12 opensesame123 abracadabra1 abracadabra123 companyname1 turnpike1234
  turnpike12345 turnpike123456 turnpiketurnpike turnpikeadmin turnpikepassword turnpikegateway paymentgateway
  paymentgateway1 paymentgateway123 payments1234 payment12345
  `
    .trim()
    .split(/\s+/),
);
