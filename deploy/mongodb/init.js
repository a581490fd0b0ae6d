// Run by init.sh with mongosh.
try {
  rs.status();
} catch (e) {
  if (e.codeName !== "NotYetInitialized") throw e;
  rs.initiate({ _id: "rs0", members: [{ _id: 0, host: "mongodb:27017" }] });
}
while (!db.hello().isWritablePrimary) sleep(200);

const user = {
  pwd: process.env.MONGODB_PASSWORD,
  roles: [{ role: "readWrite", db: "prejoin" }],
};
if (db.getUser("prejoin")) db.updateUser("prejoin", user);
else db.createUser({ user: "prejoin", ...user });
