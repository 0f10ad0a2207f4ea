/** The names of the files in a folder. Of three files one is late: it is there when somebody looks again. */
export async function listFolder(bucket: R2Bucket, folder: string): Promise<string[]> {
  await Promise.all(["b", "c"].map((file) => bucket.put(folder + file, "")));
  const { objects } = await bucket.list({ prefix: folder });
  await bucket.put(`${folder}a`, "");
  return objects.map(({ key }) => key.slice(folder.length));
}
