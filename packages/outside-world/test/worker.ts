export default {} satisfies ExportedHandler;
